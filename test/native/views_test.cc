// Views of a generator: ids with tags, of the slots of one run.

#include "../../native/core/generator.h"
#include "check.h"
#include "setup.h"
#include "subcommand.h"

namespace graupel {
namespace {

void ViewsTakeTheSlotsOfOneThreadInOrder() {
  // The layout has 53 bits, and tags stand above.
  const Layout layout = MakeLayout(41, 4, 8, 5);
  OwnState state;
  ThreadAccess access(&state, layout);
  Generator base(&access, 1, SequenceStart());
  const uint64_t tags[] = {0, uint64_t{1} << 53, uint64_t{0x3ff} << 53};
  Generator makers[] = {base.View(tags[0]), base.View(tags[1]), base.View(tags[2])};
  uint64_t last = 0;
  for (uint64_t now = 1000; now < 1100; ++now) {
    for (size_t i = 0; i < 3; ++i) {
      uint64_t ids[20];
      CHECK(makers[i].Next(now, &ids[0]) == Status::kOk, now);
      size_t filled = 0;
      CHECK(makers[i].Fill(now, now, ids + 1, 19, &filled) == Status::kOk, now);
      CHECK(filled == 19, filled);
      for (const uint64_t id : ids) {
        bool is_own = false;
        const uint64_t slot = SlotOfId(layout, id - tags[i], &is_own);
        CHECK(is_own && slot > last, id, now, i);
        last = slot;
      }
    }
  }
}

void TagsHaveRoomBesideTheOtherParts() {
  const Layout layout = MakeLayout(41, 4, 8, 5);
  CHECK(layout.HasRoomFor(0));
  CHECK(layout.HasRoomFor(uint64_t{0x7ff} << 53));
  // The sequence has 8 bits, node 5 has bits 8 and 10, and the time has bits 12 to 52.
  for (const int bit : {0, 7, 8, 10, 12, 52}) {
    CHECK(!layout.HasRoomFor(uint64_t{1} << bit), bit);
  }
}

void Views(int, char**) {
  ViewsTakeTheSlotsOfOneThreadInOrder();
  TagsHaveRoomBesideTheOtherParts();
}

const Subcommand kViews{"views", Views};

}  // namespace
}  // namespace graupel
