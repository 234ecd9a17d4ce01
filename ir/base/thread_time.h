// Time as work: what others do on the machine does not count.
#pragma once

namespace weft::ir {

// CPU time of the calling thread so far, in seconds.
double ThreadSeconds();

}  // namespace weft::ir
