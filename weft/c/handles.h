// What the handles of weft/c_api.h are.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "weft/c_api.h"
#include "weft/weft.h"

struct weft_model {
  weft::Model model;
};

struct weft_bytes {
  std::string bytes;
};

struct weft_report {
  weft::Report report;
  // Made when they are asked for.
  mutable std::mutex mutex;
  mutable std::optional<std::string> text, json;
};

struct weft_session {
  weft::Session session;
  std::vector<weft_value_info> inputs, outputs;  // which point into those of the session
};

struct weft_outputs {
  weft::Outputs owned;
  std::vector<std::vector<weft_string>> strings;  // of the tensors that have some
  std::vector<weft_tensor> tensors;               // which point into both
};

struct weft_values {
  weft::Values owned;
  std::vector<std::vector<weft_string>> strings;  // of the tensors that have some
  std::vector<std::vector<weft_tensor>> tensors;  // of each value
  std::vector<weft_value> values;                 // which point into all
};
