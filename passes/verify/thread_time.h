// Time as work: what others do on the machine does not count.
#pragma once

namespace weft::passes {

// CPU time of the calling thread so far, in seconds.
double ThreadSeconds();

}  // namespace weft::passes
