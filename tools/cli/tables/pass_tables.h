// What a run of passes did, as tables of text for stderr (RuleTable: for stdout) or as JSON.
#pragma once

#include <string>
#include <vector>

#include "passes/pass_manager.h"
#include "weft/model_size.h"

namespace weft::tools {

// Per pass and per rule that matched. The last column has the operations of the whole program for a pass, and
// those that a rule took and made.
std::string StatisticsTable(const std::vector<passes::PassReport>& reports);
// With the rules that did nothing, too. A second table has the reasons why rules declined, a third the rules
// that were not eligible.
std::string FullStatisticsTable(const std::vector<passes::PassReport>& reports);
// The same as one JSON object, of the schema tools/schemas/stats.json.
std::string StatisticsJson(const std::vector<passes::PassReport>& reports, const ModelSize& before,
                           const ModelSize& after);
// The rules that matched, and the whole program.
std::string RuleTable(const std::vector<passes::PassReport>& reports);
// Seconds per pass.
std::string TimingTable(const std::vector<passes::PassReport>& reports);

}  // namespace weft::tools
