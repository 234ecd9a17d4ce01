// The layer norm of the Neural Engine's documentation, as it is printed there.
#pragma once

#include <string_view>

namespace weft::drr::text {

inline constexpr std::string_view kLayerNormDict = R"({    'patterns': {
                 'in': [[(0, 'ReduceMean'), (1, 'Sub'), (2, 'Pow'), (3, 'ReduceMean'), (4, 'Add'), (5, 'Sqrt'), (6, 'Div'), (7,'Mul'), (8, 'Add')]],
                 'out': [[(0, 'LayerNorm')]]
                 },
     'search_mode': 'op_type',
     'node_names': {
                    0: 8
                   },
     'input_tensors': {
                        0: [[{
                            0: [0]
                        }, {
                            7: [1]
                        }, {
                            8: [1]
                        }], [[0, 1, 2], 3]]
                       },
     'output_tensors': {
                        0: [[{
                            8: [0]
                        }], [[0], 1]]
                    },
     'returns': [4]
     }
)";

}  // namespace weft::drr::text
