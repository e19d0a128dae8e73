/**
 * A defect in a copy of `native/`: a text of a file, and the text that replaces it. Both are an expression,
 * or whole statements that declare nothing for the statements after them, because mutants.ts puts all defects
 * into one program.
 */
export interface Mutation {
  readonly defect: string
  /** Path below `native`. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly from: string
  readonly to: string
  /** The test that has to fail; `ceiling` by default. */
  readonly test?: 'ceiling' | 'interleave' | 'home' | 'deletion' | 'users' | 'uuid' | 'views' | 'observed' | 'binding'
  /** The scene of a model in which the defect was found. It runs first. */
  readonly scene?: number
}

const writeThenSync = `  if (!storage.Write(record)) return false;
  if (!storage.Sync()) return false;
`

const raiseFloor = '    if (!RaiseFloor(state, floor)) return Attached::kMoved;\n'

const next = `    if (!Usable(run, now_tick)) [[unlikely]] {
      const Status status = Refill(now_tick);
      if (status != Status::kOk) return status;
    }
    *id = run.base_id + tag_bits_ + (run.sequence++ << layout().sequence_shift);
    if (!IsOriginal()) [[unlikely]]
      return DropRun();
    ++issued_;
    return Status::kOk;
`

const fill = `    const Status status = FillUnchecked(now_tick, limit_tick, out, count, filled);
    if (!IsOriginal()) {
      *filled = 0;
      return DropRun();
    }
    issued_ += *filled;
    return status;
`

export const mutations: readonly Mutation[] = [
  {
    defect: 'the durable ceiling is published before the sync',
    file: 'host/ceiling_record.h',
    from: writeThenSync,
    to: `  record.durable = record.intended;\n${writeThenSync}`,
    scene: 8,
  },
  {
    defect: 'the sync is left out',
    file: 'host/ceiling_record.h',
    from: '  if (!storage.Sync()) return false;\n',
    to: '',
    scene: 3,
  },
  {
    defect: 'the sync comes before the write',
    file: 'host/ceiling_record.h',
    from: writeThenSync,
    to: `${writeThenSync.split('\n').reverse().join('\n')}\n`,
    scene: 3,
  },
  {
    defect: 'an intended ceiling counts as a durable ceiling',
    file: 'host/ceiling_record.h',
    from: 'record->durable >= enough',
    to: 'record->intended >= enough',
    scene: 8,
  },
  {
    defect: 'the record stays clean while ids are issued',
    file: 'host/ceiling_record.h',
    from: '  record.is_clean = 0;\n',
    to: '',
    scene: 3,
  },
  {
    defect: 'the intended ceiling is adopted when another process has raised it',
    file: 'host/durable_ceiling.cc',
    from: '*ceiling = record.durable;',
    to: '*ceiling = record.intended;',
    scene: 2,
  },
  {
    defect: 'the intended ceiling is adopted at the beginning',
    file: 'host/durable_ceiling.cc',
    from: '\n        Adopt(record.durable);',
    to: '\n        Adopt(record.intended);',
    scene: 2,
  },
  {
    defect: 'the ceiling rises in the process before it rises on the disk',
    file: 'host/durable_ceiling.cc',
    from: 'RaiseOnDisk(memory, now_tick, &ceiling)',
    to: `Adopt(CeilingFrom(layout_, memory.page->state().word.load(), now_tick, reserve_ticks_)),
                  RaiseOnDisk(memory, now_tick, &ceiling)`,
    scene: 3,
  },
  {
    defect: 'the record names the memory before its floor is raised',
    file: 'host/ceiling_record.h',
    from: raiseFloor,
    to: `    record->TakeFrom(own);
    if (!storage.Write(*record)) return Attached::kFailed;
${raiseFloor}`,
    scene: 4,
  },
  {
    defect: 'the floor is not raised',
    file: 'host/ceiling_record.h',
    from: raiseFloor,
    to: '',
    scene: 3,
  },
  {
    defect: 'the floor is the durable ceiling, although a higher ceiling was intended',
    file: 'host/ceiling_record.h',
    from: 'return intended > durable ? intended : durable;',
    to: 'return durable;',
    scene: 3,
  },
  {
    defect: 'a record of another boot is taken for a record of this memory',
    file: 'host/ceiling_record.h',
    from: `lineage == own.lineage &&
           std::memcmp(boot_id, own.boot_id, sizeof boot_id) == 0`,
    to: 'lineage == own.lineage',
    scene: 3,
  },
  {
    defect: 'a record of another memory in this boot is taken for a record of this memory',
    file: 'host/ceiling_record.h',
    from: 'lineage == own.lineage',
    to: 'true',
    scene: 3,
  },
  {
    defect: 'the exact word is written while other processes count',
    file: 'host/durable_ceiling.cc',
    from: 'file_->TryExclusiveUse() && file_->Read(&record)',
    to: 'file_->Read(&record)',
    scene: 8,
  },
  {
    defect: 'the written word is not the exact word',
    file: 'host/ceiling_record.h',
    from: '  record.word = record.intended = record.durable = word;\n',
    to: `  record.word = word - 1;
  record.intended = record.durable = word;\n`,
    scene: 3,
  },
  {
    defect: 'a sealed page is taken for the beginning of a reserve',
    file: 'host/ceiling_record.h',
    from: '  if (word == kSealed) return Attached::kMoved;\n',
    to: '',
    scene: 7,
  },
  {
    defect: 'a process begins without the lock',
    file: 'host/durable_ceiling.cc',
    from: `  fault = file_->Lock(left_ms());
  if (!fault.IsNone()) return fault;\n`,
    to: '',
    scene: 5,
  },
  {
    defect: 'the ceiling is raised without the lock',
    file: 'host/durable_ceiling.cc',
    from: `  fault = file_->Lock(kLockMs);
  if (!fault.IsNone()) return fault;\n`,
    to: '',
    scene: 2,
  },
  {
    defect: 'a run continues above the ceiling',
    file: 'core/state.h',
    from: 'tick_end < request.ceiling ? tick_end : request.ceiling - 1',
    to: 'tick_end',
    scene: 8,
  },
  {
    defect: 'the slot at the ceiling is issued',
    file: 'core/state.h',
    from: 'first >= request.ceiling',
    to: 'first > request.ceiling',
    scene: 3,
  },
  {
    defect: 'a state is sealed before the next state is raised',
    file: 'core/succession.h',
    from: `    if (!RaiseFloor(to, word)) return false;
    // [begin] Published by the seal.
    RaiseTo(from.last, word);
    if (from.word.compare_exchange_weak(word, kSealed, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
      break;
    }\n`,
    to: `    RaiseTo(from.last, word);
    if (from.word.compare_exchange_weak(word, kSealed, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
      if (!RaiseFloor(to, word)) return false;
      break;
    }\n`,
    test: 'interleave',
    scene: 11,
  },
  {
    defect: 'past ticks of a sealed state are reused',
    file: 'core/reuse.h',
    from: '  if (word == kSealed) return Status::kMoved;\n',
    to: '',
    test: 'interleave',
    scene: 14,
  },
  {
    defect: 'the floor of the history does not change',
    file: 'core/state.h',
    from: '    if (History* history = HistoryOf(state)) history->RaiseFloor(slot);\n    if (word >= slot) return word;\n',
    to: '    if (word >= slot) return word;\n',
    test: 'interleave',
    scene: 9,
  },
  {
    defect: 'raising a floor returns an older word than the former word',
    file: 'core/state.h',
    from: `    if (state.word.compare_exchange_weak(word, slot, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      return word;
    }\n`,
    to: `    const uint64_t seen = word;
    if (state.word.compare_exchange_weak(word, slot, std::memory_order_acq_rel,
                                         std::memory_order_acquire) ||
        (word < slot && state.word.compare_exchange_weak(word, slot, std::memory_order_acq_rel,
                                                         std::memory_order_acquire))) {
      return seen;
    }\n`,
    test: 'interleave',
    scene: 10,
  },
  {
    defect: 'ticks that the word leaves get no marks',
    file: 'core/state.h',
    from: '    if (History* history = HistoryOf(state)) history->Leave(layout, word, first, next);\n',
    to: '',
    test: 'interleave',
    scene: 3,
  },
  {
    defect: 'the ceiling of a lost page holds for the next page',
    file: 'host/durable_ceiling.cc',
    from: '    Lower();\n',
    to: '',
    test: 'home',
  },
  {
    defect: 'the path of the page is not checked',
    file: 'host/page.h',
    from: 'return file_.IsAt(path_);',
    to: 'return true;',
    test: 'home',
  },
  {
    defect: 'a new page begins with the tick in which the former page was deleted',
    file: 'core/succession.h',
    from: 'if ((is_sealed || now_tick != nullptr) && slot < next_tick) slot = next_tick;',
    to: '',
    test: 'deletion',
  },
  {
    defect: 'a sealed page begins at its sealed word',
    file: 'core/succession.h',
    from: 'is_sealed ? last + 1 : last',
    to: 'last',
    test: 'deletion',
  },
  {
    defect: 'the word of a sealed page is forgotten',
    file: 'core/succession.h',
    from: '    RaiseTo(from.last, word);\n',
    to: '',
    test: 'deletion',
  },
  {
    defect: 'a page is moved to itself',
    file: 'host/home.cc',
    from: 'from->IsSameAs(to)',
    to: 'false',
    test: 'deletion',
  },
  {
    defect: 'the history of a page that begins again keeps its old floor',
    file: 'core/succession.h',
    from: `  // [floor] Raised before the word.
  if (History* history = HistoryOf(state)) history->RaiseFloor(slot);\n`,
    to: '',
    test: 'interleave',
    scene: 16,
  },
  {
    defect: 'a process continues because the other process seems dead',
    file: 'host/users.cc',
    from: 'user.compare_exchange_strong(expected, own)',
    to: `(expected = kill(static_cast<pid_t>(user.load() & INT32_MAX), 0) == 0 ? 0 : user.load(),
         user.compare_exchange_strong(expected, own))`,
    test: 'users',
  },
  {
    defect: 'a process that ends by quick_exit() keeps its entry',
    file: 'host/home.cc',
    from: 'std::at_quick_exit([] { LeavePages(true); })',
    to: '0',
    test: 'users',
  },
  {
    defect: 'a process leaves its pages while another thread makes ids',
    file: 'host/home.cc',
    from: '  if (only_own && !are_own) return;\n',
    to: '',
    test: 'users',
  },
  {
    defect: 'a page counts beside a claim that has a later link',
    file: 'host/page.cc',
    from: '!is_there || is_followed',
    to: '!is_there',
    test: 'users',
  },
  {
    defect: 'a page begins below the ceiling of the claim beside it',
    file: 'host/home.cc',
    from: '  if (floor > 0) Continue(state, floor, layout_.TickOf(floor - 1));\n',
    to: '',
    test: 'users',
  },
  {
    defect: 'the word of a page is forgotten with its mapping',
    file: 'host/home.cc',
    from: '  RaiseTo(own_->last, word != kSealed ? word : state.last.load());\n',
    to: '',
    test: 'users',
  },
  {
    defect: 'each process has a copy of the page',
    file: 'platform/posix/shared_file_posix.cc',
    from: 'MAP_SHARED',
    to: 'MAP_PRIVATE',
    test: 'home',
  },
  {
    defect: 'the generation of the machine is read before an id is reserved',
    file: 'core/generator.h',
    from: next,
    to: `    const bool is_original = IsOriginal();
${next.replace('!IsOriginal()', '!is_original')}`,
    test: 'interleave',
    scene: 1,
  },
  {
    defect: 'the generation of the machine is read before an array is filled',
    file: 'core/generator.h',
    from: fill,
    to: `    const bool is_original = IsOriginal();
${fill.replace('!IsOriginal()', '!is_original')}`,
    test: 'interleave',
    scene: 1,
  },
  {
    defect: 'an id of a view lacks its tags',
    file: 'core/generator.h',
    from: 'run.base_id + tag_bits_',
    to: 'run.base_id',
    test: 'views',
  },
  {
    defect: 'ids of a view lack their tags in an array',
    file: 'core/generator.h',
    from: 'base_id + tag_bits_ + (sequence << shift)',
    to: 'base_id + (sequence << shift)',
    test: 'views',
  },
  {
    defect: 'a tag may have bits of the time',
    file: 'core/layout.h',
    from: '((Sequences() | Ticks() | node_bits) & tag_bits) == 0',
    to: '((Sequences() | node_bits) & tag_bits) == 0',
    test: 'views',
  },
  {
    defect: 'the slot above an id may have the same id',
    file: 'core/observed.h',
    from: 'same > id',
    to: 'same >= id',
    test: 'observed',
  },
  {
    defect: 'an answer takes the next tick although a sequence number is left',
    file: 'core/observed.h',
    from: 'sequence + 1 < layout.Capacity()',
    to: 'sequence + 2 < layout.Capacity()',
    test: 'observed',
  },
  {
    defect: 'a slot above the last tick is found if its sequence is used up',
    file: 'core/observed.h',
    from: 'sequence + 1 < layout.Capacity() && same + stride > id',
    to: 'same + stride > id',
    test: 'observed',
  },
  {
    defect: 'a slot above the last tick is found',
    file: 'core/observed.h',
    from: 'tick < layout.max_tick',
    to: 'tick <= layout.max_tick',
    test: 'observed',
  },
  {
    defect: 'slots of a run below an observed id are issued',
    file: 'core/generator.h',
    from: 'slot - begin < run.end ? slot - begin : run.end',
    to: 'run.sequence',
    test: 'observed',
  },
  {
    defect: 'slots of a past tick are dropped by an observed id',
    file: 'core/generator.h',
    from: 'run.reused || slot <= begin + run.sequence',
    to: 'slot <= begin + run.sequence',
    test: 'observed',
  },
  {
    defect: 'ids that lead on from an observed id count as an overflow',
    file: 'core/state.h',
    from: '          RaiseTo(state.observed_tick, layout.TickOf(next - 1));\n',
    to: '',
    test: 'observed',
  },
  {
    defect: 'all ids ahead of the clock count as observed',
    file: 'core/state.h',
    from: 'observed > request.now_tick',
    to: 'observed + 1 > 0',
    test: 'observed',
  },
  {
    defect: 'the next page forgets the observed tick',
    file: 'core/succession.h',
    from: '  RaiseTo(to.observed_tick, from.observed_tick.load(std::memory_order_relaxed));\n',
    to: '',
    test: 'observed',
  },
  {
    defect: 'an id too far ahead of the clock is observed',
    file: 'binding/exceed.cc',
    from: '      if (fresh) return Status::kAhead;\n',
    to: '',
    test: 'binding',
  },
  {
    defect: 'the word does not rise above an observed id',
    file: 'binding/exceed.cc',
    from: 'RaiseFloor(state, slot).has_value() ? Status::kRaised : Status::kMoved',
    to: 'Status::kRaised',
    test: 'binding',
  },
  {
    defect: 'a word above an observed id counts as a rollback',
    file: 'binding/exceed.cc',
    from: '    RaiseTo(state.observed_tick, layout.TickOf(slot));\n',
    to: '',
    test: 'binding',
  },
  {
    defect: 'a word at the slot above an observed id counts as below it',
    file: 'binding/exceed.cc',
    from: 'word >= slot',
    to: 'word > slot',
    test: 'binding',
  },
  {
    defect: 'an observed tick below 0 is taken',
    file: 'binding/bounds.cc',
    from: 'high_tick < 0 || observed_tick < 0',
    to: 'high_tick < 0',
    test: 'binding',
  },
  {
    defect: 'a UUID repeats random words of the UUID before it',
    file: 'core/uuid.h',
    from: 'random += words',
    to: 'random += 1',
    test: 'uuid',
  },
  {
    defect: 'half of the random bits of a UUID repeat the other half',
    file: 'core/uuid.h',
    from: 'random[1]',
    to: 'random[0]',
    test: 'uuid',
  },
  {
    defect: 'a UUID has the time of another id',
    file: 'core/uuid.h',
    from: '((ids[i] ^ ids[0]) & ~frame.sequence) != 0',
    to: '((ids[i] ^ ids[0]) & ~frame.sequence) == 1',
    test: 'uuid',
  },
]
