#include "tools/tools.h"

int main(int argc, char** argv) { return weft::IrRunMain(argc, argv); }
