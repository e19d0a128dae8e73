/*
 * The claim of src/host/claim-chain.ts for Spin. `npm run model` checks it, and docs/model.md says what it
 * covers.
 *
 * One key, and some processes on the js engine. Each d_step is one call of the file system, with all that the
 * process does until its next call. A process may stop between two calls for any time, or crash there. No
 * process knows whether another runs. No clock decides anything, unless CLEANERS or DELETIONS is defined. The
 * model observes one slot, which is chosen at the beginning. Lines that begin with @ tell what happens.
 *
 * Names that `-D` defines:
 *   WITHOUT=S3   removes a rule
 *   SLOT         the slot that is observed; any slot if it is not defined
 *   SLEEPERS     so many processes read the claim once. Spin finds a violation of three processes sooner
 *   CLEANERS     so many commands `graupel state --clean` run, and a clock decides which slot an id has, and
 *                which claims are old
 *   DELETIONS    so many times the claim is deleted, at any moment; with the same clock
 *   BACK         so many times the clock is set back by a slot
 *   LINKS, SLOTS, PROCESSES, CRASHES   the most links that are made, the last slot, the number of processes
 *                                      and of crashes
 */

mtype:rule = {
  S1,    /* a link gets its name by link(2), which fails if the name exists */
  S2,    /* the maker of a link then looks for the predecessor. If that is gone, others have continued */
  S3,    /* it looks for the predecessor's token: a name that was removed may have come back with another link */
  S4,    /* a process begins at the ceiling of the link before */
  S5,    /* older links are removed, the oldest first */
  S6,    /* the predecessor of the latest link is kept */
  S7,    /* a process that has released the claim makes no id */
  S8,    /* a process that follows no released link begins with the next slot of the clock */
  S9,    /* a process looks in each slot whether its claim is there */
  S10,   /* a process keeps its link until it has made the next, also if it was refused. Without a link it does not look */
  S11,   /* the next link has the ceiling of the process at least, also if its claim was deleted */
  none
};
#ifndef WITHOUT
#define WITHOUT none
#endif
#define rule(name) (WITHOUT != name)

#if DELETIONS > 0
/* A claim that is deleted while the clock is set back is not made by another process before the holder makes
 * it again. */
#define mayLink (latest != NONE || (holder == p && ceiling != 0) || time == top)
#else
#define mayLink true
#endif

#ifndef SLEEPERS
#define SLEEPERS 0
#endif
#ifndef BACK
#define BACK 0
#endif
#define WINDOW 1
#ifndef CLEANERS
#define CLEANERS 0
#endif
#ifndef DELETIONS
#define DELETIONS 0
#endif
#if CLEANERS + DELETIONS > 0
#define TIMED
#define next (time + 1)
#define isShown(slot, tick) (slot == tick)
#else
#define next 0
#define isShown(slot, tick) true
#endif
#define NONE 15

/*
 * A link's file; its index is its token. Two names are equal if the numbers and the tokens of the
 * predecessors are.
 */
typedef Link { bool isThere, isReleased; byte number, previous, ceiling };
Link links[LINKS];
#define S(i) links[i]
#define isNamed(i, n, of) (S(i).isThere && S(i).number == n && S(i).previous == of)
byte made;                  /* how many links were made */
byte crashes;
byte slot;                  /* the slot that is observed */
byte owner = NONE;          /* the process that has made its id */
byte time;                   /* the slot of the clock */
byte backs;
byte top;                    /* the last slot that the clock has shown */
byte holder = NONE;          /* the process that has made the last link */

hidden byte i, j, found, folder;
/* Finds a file by its name. */
#define find(n, of) found = NONE; for (i : 0 .. LINKS - 1) { if :: isNamed(i, n, of) -> found = i :: else fi }

/* latestLink(): the highest number whose predecessor is there, and the links before it. */
#define list() \
  latest = NONE; older = 0; \
  for (i : 0 .. LINKS - 1) { \
    found = S(i).isThere && S(i).number == 1; \
    for (j : 0 .. LINKS - 1) { \
      if :: S(i).isThere && S(j).isThere && j == S(i).previous -> found = true :: else fi \
    } \
    if :: found && (latest == NONE || S(i).number > S(latest).number) -> latest = i :: else fi \
  } \
  for (i : 0 .. LINKS - 1) { \
    assert(latest != NONE || !S(i).isThere);      /* otherwise the claim is damaged */ \
    if :: S(i).isThere && S(i).number < S(latest).number -> older = older | (1 << i) :: else fi \
  }

/* makeLink(): gives a link its name. `mine` is NONE if another process was faster. */
#define link(end, release) \
  mine = NONE; number = 1; \
  if :: latest != NONE -> number = S(latest).number + 1 :: else fi; \
  folder = NONE; for (i : 0 .. LINKS - 1) { if :: S(i).isThere -> folder = i :: else fi } \
  if \
  /* rename(2) of the folder */ \
  :: latest == NONE -> found = folder \
  :: else -> find(number, latest) \
  fi; \
  if \
  :: found != NONE && rule(S1) \
  /* The folder was removed. */ \
  :: latest != NONE && folder == NONE \
  :: else -> \
    if :: found != NONE -> S(found).isThere = false :: else fi; \
    mine = made; made++; \
    S(mine).isThere = true; S(mine).number = number; S(mine).previous = latest; S(mine).ceiling = end; S(mine).isReleased = release \
  fi; \
  number = 0
#define higher(a, b) (a > b -> a : b)
#define checkPredecessor() \
  if \
  :: latest == NONE || mine == NONE || !rule(S2) \
  :: else -> \
    find(S(latest).number, S(latest).previous); \
    if :: found == NONE || (rule(S3) && found != latest) -> mine = NONE :: else fi \
  fi

/* removeOlder(): one file. */
#define isBefore(a, b) (rule(S5) -> S(a).number < S(b).number : S(a).number > S(b).number)
#define removeOne() \
  found = NONE; \
  for (i : 0 .. LINKS - 1) { \
    if :: (older & (1 << i)) && (found == NONE || isBefore(i, found)) -> found = i :: else fi \
  } \
  older = older & ~(1 << found); \
  for (i : 0 .. LINKS - 1) { if :: i != found && isNamed(i, S(found).number, S(found).previous) -> S(i).isThere = false :: else fi } \
  S(found).isThere = false

proctype Process(byte p) {
  byte latest, older, mine, number, held = NONE, floor, ceiling, before, tick;
  bool isOwn, isReleasing, hasTried;
again:
  made < LINKS && !(p < SLEEPERS && hasTried);
  hasTried = true;
  d_step {
    tick = 0;
    list();
    isOwn = (held != NONE && latest == held);
    before = (latest == NONE -> 0 : S(latest).ceiling);
    if :: !isOwn && !rule(S10) -> held = NONE :: else fi;
    printf("@ %d lists, the latest is %d\n", p, latest)
  }
#if DELETIONS > 0
  if
  :: !isOwn && latest != NONE && ceiling > floor ->
    d_step { before = 0; latest = NONE; older = 0; printf("@ %d is refused\n", p) }
    goto makes
  :: true
  fi;
#endif
  if
  :: isOwn ->
    d_step {
      isReleasing = true;
      /* giveBack(): no thread makes an id from now on. The tick after the last id is the ceiling of the link
       * that releases. */
      if :: owner == p && slot >= floor -> floor = slot + 1 :: else fi;
      if :: rule(S7) -> ceiling = floor :: else fi
    }
  :: isReleasing = false
  fi;
  d_step {
    made < LINKS && mayLink;   /* only the first statement of a d_step may wait */
    tick = next;
    link((isReleasing -> floor : higher(higher(before, next) + WINDOW, (rule(S11) -> ceiling : 0))), isReleasing);
#if DELETIONS > 0
    if :: mine != NONE -> holder = p :: else fi;
#endif
    printf("@ %d links %d\n", p, mine)
  }
  d_step { checkPredecessor(); printf("@ %d checks, and has %d\n", p, mine) }
  if
  :: mine == NONE -> goto again
  :: mine != NONE && crashes < CRASHES -> goto crash
  :: mine != NONE
  fi;
  if :: !rule(S6) && latest != NONE -> older = older | (1 << latest) :: else fi;
  do
  :: older != 0 -> d_step { removeOne(); printf("@ %d removes %d\n", p, found); found = 0 }
  :: older == 0 -> break
  :: crashes < CRASHES -> goto crash
  od;
  if
  :: isReleasing && rule(S7) -> held = NONE; goto again
  :: else
  fi;
  d_step {
    if :: !isOwn -> floor = higher(floor, higher((rule(S4) -> before : 0), ((latest != NONE && S(latest).isReleased) || !rule(S8) -> 0 : higher(tick, next)))) :: else fi;
    ceiling = (S(mine).ceiling > ceiling -> S(mine).ceiling : ceiling);
    held = mine; before = 0; latest = NONE; number = 0; tick = 0;
    printf("@ %d may use the slots %d to %d\n", p, floor, ceiling - 1)
  }
makes:
#ifdef TIMED
  tick = time;
  if :: rule(S9) && held != NONE && !S(held).isThere -> printf("@ %d finds no claim\n", p); goto again :: else fi;
#endif
  do
#ifdef TIMED
  :: tick != time -> goto makes
#endif
  :: isShown(slot, tick) && slot >= floor && slot < ceiling ->
    assert(owner == NONE || owner == p);
    owner = p;
    printf("@ %d makes an id of slot %d\n", p, slot)
  :: goto again
  :: crashes < CRASHES -> goto crash
  od;
crash:
  crashes++;
  held = NONE; floor = 0; ceiling = 0;
  goto again
}

#if CLEANERS > 0
/* cleanClaim() and forgetClaim(). */
proctype Cleaner(byte p) {
  byte latest, older, mine, number;
  made < LINKS;
  d_step { list(); printf("@ %d lists to clean, the latest is %d\n", p, latest) }
  if
  :: latest == NONE || S(latest).ceiling > time -> goto done
  :: else
  fi;
  d_step {
    made < LINKS;
    link(0, false);
    printf("@ %d links %d to clean\n", p, mine)
  }
  d_step { checkPredecessor(); printf("@ %d checks, and has %d\n", p, mine) }
  if :: mine == NONE -> goto done :: else fi;
  /* rename(2) of the folder, whatever is in it now */
  d_step {
    for (i : 0 .. LINKS - 1) { S(i).isThere = false }
    latest = NONE; mine = NONE; number = 0; older = 0;
    printf("@ %d removes the claim\n", p)
  }
done: skip
}
#endif

#if DELETIONS > 0
proctype Deleter() {
  byte deletions;
  do
  :: deletions < DELETIONS -> d_step {
      for (i : 0 .. LINKS - 1) { S(i).isThere = false }
      deletions++;
      printf("@ the claim is deleted\n")
    }
  :: else -> break
  od
}
#endif

#ifdef TIMED
proctype Clock() {
  do
  :: d_step { time < SLOTS -> time++; top = higher(top, time); printf("@ the clock shows %d\n", time) }
  :: d_step { backs < BACK && time > 0 -> backs++; time--; printf("@ the clock is set back to %d\n", time) }
  od
}
#endif

init {
  atomic {
#ifdef SLOT
    slot = SLOT;
#else
    select (slot : 0 .. SLOTS);
#endif
    for (i : 0 .. PROCESSES - 1) { run Process(i) }
#if CLEANERS > 0
    /* The claim of a process that is gone. Its ceiling has passed. */
    S(0).isThere = true; S(0).number = 1; S(0).previous = NONE; S(0).ceiling = 1; made = 1; time = 1; top = 1;
    for (i : 0 .. CLEANERS - 1) { run Cleaner(PROCESSES + i) }
#endif
#if DELETIONS > 0
    run Deleter();
#endif
#ifdef TIMED
    run Clock()
#endif
  }
}
