// The C interface as Swift sees it, with the macros that Swift's importer cannot read.
#ifndef REMORA_SWIFT_SHIM_H_
#define REMORA_SWIFT_SHIM_H_

#include <remora/remora.h>

static const uint64_t remora_swift_seed_random = REMORA_SEED_RANDOM;

#endif
