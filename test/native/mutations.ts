/** A defect in a copy of `native/`: a text of a file, and the text that replaces it. */
export interface Mutation {
  readonly defect: string
  /** Path below `native`. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly from: string
  readonly to: string
  /** The program that has to fail; `ceiling_model_test` by default. */
  readonly test?: 'interleave_test' | 'home_test' | 'deletion_test' | 'users_test' | 'uuid_test'
}

const writeThenSync = `  if (!storage.Write(record)) return false;
  if (!storage.Sync()) return false;
`

const enterUsers = `#include "processes.h"

namespace graupel {

// [users] Sequentially consistent throughout. The other engine writes a file and then
// reads this table; this engine writes the table and then looks for that file.

Users::User* Users::Enter() {
  const uint64_t own = ThisProcess();
  for (User& user : users_) {
    uint64_t expected = 0;
`

export const mutations: readonly Mutation[] = [
  {
    defect: 'the durable ceiling is published before the sync',
    file: 'host/ceiling_record.h',
    from: writeThenSync,
    to: `  record.durable = record.intended;\n${writeThenSync}`,
  },
  {
    defect: 'the sync is left out',
    file: 'host/ceiling_record.h',
    from: '  if (!storage.Sync()) return false;\n',
    to: '',
  },
  {
    defect: 'the sync comes before the write',
    file: 'host/ceiling_record.h',
    from: writeThenSync,
    to: `${writeThenSync.split('\n').reverse().join('\n')}\n`,
  },
  {
    defect: 'an intended ceiling counts as a durable ceiling',
    file: 'host/ceiling_record.h',
    from: 'record->durable >= enough',
    to: 'record->intended >= enough',
  },
  {
    defect: 'the record stays clean while ids are issued',
    file: 'host/ceiling_record.h',
    from: '  record.is_clean = 0;\n',
    to: '',
  },
  {
    defect: 'the intended ceiling is adopted when another process has raised it',
    file: 'host/durable_ceiling.cc',
    from: '*ceiling = record.durable;',
    to: '*ceiling = record.intended;',
  },
  {
    defect: 'the intended ceiling is adopted at the beginning',
    file: 'host/durable_ceiling.cc',
    from: '\n      Adopt(record.durable);',
    to: '\n      Adopt(record.intended);',
  },
  {
    defect: 'the ceiling rises in the process before it rises on the disk',
    file: 'host/durable_ceiling.cc',
    from: '    Fault fault = Attempt(memory, now_tick, &ceiling);\n',
    to: `    Adopt(CeilingFrom(layout_, memory.page->state().word.load(), now_tick, window_ticks_));
    Fault fault = Attempt(memory, now_tick, &ceiling);\n`,
  },
  {
    defect: 'the record names the memory before its floor is raised',
    file: 'host/ceiling_record.h',
    from: '    const uint64_t floor = record->Floor();\n',
    to: `    const uint64_t floor = record->Floor();
    record->TakeFrom(own);
    if (!storage.Write(*record)) return Attached::kFailed;\n`,
  },
  {
    defect: 'the floor is not raised',
    file: 'host/ceiling_record.h',
    from: '    if (!RaiseFloor(state, floor)) return Attached::kMoved;\n',
    to: '',
  },
  {
    defect: 'the floor is the durable ceiling, although a higher ceiling was intended',
    file: 'host/ceiling_record.h',
    from: 'return intended > durable ? intended : durable;',
    to: 'return durable;',
  },
  {
    defect: 'a record of another boot is taken for a record of this memory',
    file: 'host/ceiling_record.h',
    from: `lineage == own.lineage &&
           std::memcmp(boot_id, own.boot_id, sizeof boot_id) == 0`,
    to: 'lineage == own.lineage',
  },
  {
    defect: 'a record of another memory in this boot is taken for a record of this memory',
    file: 'host/ceiling_record.h',
    from: 'lineage == own.lineage &&',
    to: '',
  },
  {
    defect: 'the exact word is written while other processes count',
    file: 'host/durable_ceiling.cc',
    from: 'file_->TryExclusiveUse() && file_->Read',
    to: 'file_->Read',
  },
  {
    defect: 'the written word is not the exact word',
    file: 'host/ceiling_record.h',
    from: '  record.word = record.intended = record.durable = word;\n',
    to: `  record.word = word - 1;
  record.intended = record.durable = word;\n`,
  },
  {
    defect: 'a sealed page is taken for the beginning of a window',
    file: 'host/ceiling_record.h',
    from: '  if (word == kSealed) return Attached::kMoved;\n',
    to: '',
  },
  {
    defect: 'a process begins without the lock',
    file: 'host/durable_ceiling.cc',
    from: `  *fault = file_->Lock(left_ms());
  if (!fault->IsNone()) return Attached::kFailed;\n`,
    to: '',
  },
  {
    defect: 'the ceiling is raised without the lock',
    file: 'host/durable_ceiling.cc',
    from: `  fault = file_->Lock(kLockMs);
  if (!fault.IsNone()) return fault;\n`,
    to: '',
  },
  {
    defect: 'a run continues above the ceiling',
    file: 'core/state.h',
    from: 'tick_end < request.ceiling ? tick_end : request.ceiling - 1',
    to: 'tick_end',
  },
  {
    defect: 'the slot at the ceiling is issued',
    file: 'core/state.h',
    from: 'first >= request.ceiling',
    to: 'first > request.ceiling',
  },
  {
    defect: 'a state is sealed before the next state is raised',
    file: 'core/state.h',
    from: `    if (!RaiseFloor(to, word)) return false;
    // [begin] Published by the seal.
    RaiseTo(from.last, word);
    if (from.word.compare_exchange_weak(word, kSealed, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
      break;\n`,
    to: `    RaiseTo(from.last, word);
    if (from.word.compare_exchange_weak(word, kSealed, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
      if (!RaiseFloor(to, word)) return false;
      break;\n`,
    test: 'interleave_test',
  },
  {
    defect: 'past ticks of a sealed state are reused',
    file: 'core/state.h',
    from: '  if (word == kSealed) return Reserved::kMoved;\n',
    to: '',
    test: 'interleave_test',
  },
  {
    defect: 'the floor of the history does not change',
    file: 'core/state.h',
    from: '    if (History* history = HistoryOf(state)) history->RaiseFloor(slot);\n    if (word >= slot) return word;\n',
    to: '    if (word >= slot) return word;\n',
    test: 'interleave_test',
  },
  {
    defect: 'raising a floor returns an older word than the former word',
    file: 'core/state.h',
    from: `    if (state.word.compare_exchange_weak(word, slot, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      return word;`,
    to: `    const uint64_t seen = word;
    if (state.word.compare_exchange_weak(word, slot, std::memory_order_acq_rel,
                                         std::memory_order_acquire) ||
        (word < slot && state.word.compare_exchange_weak(word, slot, std::memory_order_acq_rel,
                                                         std::memory_order_acquire))) {
      return seen;`,
    test: 'interleave_test',
  },
  {
    defect: 'ticks that the word leaves get no marks',
    file: 'core/state.h',
    from: '    if (History* history = HistoryOf(state)) history->Leave(layout, word, first, next);\n',
    to: '',
    test: 'interleave_test',
  },
  {
    defect: 'the ceiling of a lost page holds for the next page',
    file: 'host/durable_ceiling.cc',
    from: '    Lower();\n',
    to: '',
    test: 'home_test',
  },
  {
    defect: 'the path of the page is not checked',
    file: 'host/page.h',
    from: 'return file_.IsAt(path_);',
    to: 'return true;',
    test: 'home_test',
  },
  {
    defect: 'a new page begins with the tick in which the former page was deleted',
    file: 'core/state.h',
    from: 'if ((is_sealed || now_tick != nullptr) && slot < next_tick) slot = next_tick;',
    to: '',
    test: 'deletion_test',
  },
  {
    defect: 'a sealed page begins at its sealed word',
    file: 'core/state.h',
    from: 'uint64_t slot = is_sealed ? last + 1 : last;',
    to: 'uint64_t slot = last;',
    test: 'deletion_test',
  },
  {
    defect: 'the word of a sealed page is forgotten',
    file: 'core/state.h',
    from: '    RaiseTo(from.last, word);\n',
    to: '',
    test: 'deletion_test',
  },
  {
    defect: 'a page is moved to itself',
    file: 'host/home.cc',
    from: 'return from == nullptr || from->IsSameAs(to) ||',
    to: 'return from == nullptr ||',
    test: 'deletion_test',
  },
  {
    defect: 'the history of a page that begins again keeps its old floor',
    file: 'core/state.h',
    from: 'history->RaiseFloor(slot);\n  // [begin]',
    to: ';\n  // [begin]',
    test: 'interleave_test',
  },
  {
    defect: 'a process continues because the other process seems dead',
    file: 'host/users.cc',
    from: enterUsers,
    to: enterUsers
      .replace('#include', '#include <csignal>\n#include')
      .replace('= 0;', '= kill(static_cast<pid_t>(user.load() & INT32_MAX), 0) == 0 ? 0 : user.load();'),
    test: 'users_test',
  },
  {
    defect: 'a page counts beside a claim that has a later step',
    file: 'host/page.cc',
    from: 'if (!is_there || is_followed) {',
    to: 'if (!is_there) {',
    test: 'users_test',
  },
  {
    defect: 'a page begins below the ceiling of the claim beside it',
    file: 'host/home.cc',
    from: '    if (floor > 0) Continue(found->state(), floor, layout.TickOf(floor - 1));\n',
    to: '',
    test: 'users_test',
  },
  {
    defect: 'the word of a page is forgotten with its mapping',
    file: 'host/home.cc',
    from: '  RaiseTo(own.last, word != kSealed ? word : state.last.load());\n',
    to: '  (void)word;\n',
    test: 'users_test',
  },
  {
    defect: 'each process has a copy of the page',
    file: 'platform/posix/shared_file_posix.cc',
    from: 'PROT_READ | PROT_WRITE, MAP_SHARED, fd_',
    to: 'PROT_READ | PROT_WRITE, MAP_PRIVATE, fd_',
    test: 'home_test',
  },
  {
    defect: 'the generation of the machine is read before an id is reserved',
    file: 'core/generator.h',
    from: `  Status Next(uint64_t now_tick, uint64_t* id) {
    Run& run = access_->run;
    if (!Usable`,
    to: `  Status Next(uint64_t now_tick, uint64_t* id) {
    Run& run = access_->run;
    const bool is_original = IsOriginal();
    const auto IsOriginal = [=] { return is_original; };
    if (!Usable`,
    test: 'interleave_test',
  },
  {
    defect: 'the generation of the machine is read before an array is filled',
    file: 'core/generator.h',
    from: `    const Status status = FillUnchecked(now_tick, limit_tick, out, count, filled);
    if (!IsOriginal()) {`,
    to: `    const bool is_original = IsOriginal();
    const Status status = FillUnchecked(now_tick, limit_tick, out, count, filled);
    if (!is_original) {`,
    test: 'interleave_test',
  },
  {
    defect: 'a UUID repeats random words of the UUID before it',
    file: 'core/uuid.h',
    from: 'random += words',
    to: 'random += 1',
    test: 'uuid_test',
  },
  {
    defect: 'half of the random bits of a UUID repeat the other half',
    file: 'core/uuid.h',
    from: '| random[1]',
    to: '| random[0]',
    test: 'uuid_test',
  },
  {
    defect: 'a UUID has the time of another id',
    file: 'core/uuid.h',
    from: '& ~frame.sequence) != 0) return i;',
    to: '& ~frame.sequence) == 1) return i;',
    test: 'uuid_test',
  },
]
