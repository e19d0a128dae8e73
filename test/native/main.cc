// The program of the tests that are compiled together with this file (compile.ts).

#include "subcommand.h"

int main(int argc, char** argv) { return graupel::Subcommand::Main(argc, argv); }
