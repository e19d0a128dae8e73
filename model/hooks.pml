/*
 * The calls of a program on a lease, and copies of its machine, for Spin: docs/lease-proof.md, "D. Calls of
 * the program, and copies that are announced". `npm run model` checks it, and docs/model.md says what it
 * covers.
 *
 * One lease of a process, another lease of the same process, which is only its hooks, and other processes.
 * The machine may be copied once, between any two steps. So all that a process knows is data, also where its
 * work stands. Lines that begin with @ tell what happens. One tick of one node is observed.
 *
 * Names that `-D` defines:
 *   WITHOUT=D3   removes rule D.3 of docs/lease-proof.md, and so on for each rule
 *   CALLS        how many calls of park() and resume() there are, of both leases on both machines
 *   RENEWALS     the lease renews. Otherwise it only acquires, and lapses
 *   UNTOLD       no device tells of the copy
 *   ALONE        there is no copy
 */

mtype:rule = { D1, D2, D3, D4, D5, D6, D7, D8, D9, D10, D11, none };
#ifndef WITHOUT
#define WITHOUT none
#endif
#define rule(name) (WITHOUT != name)

/* A rectangle of a node. */
#define NOTHING 0
#define BEFORE 1            /* the ceiling is at or below the observed tick */
#define COVERS 2            /* the observed tick is in it */
#define AFTER 3             /* the floor is above the observed tick */

/* The record of the observed node. A version is what its reader knows: whether the record still has it. */
bool isPast;                /* the ceiling is above the observed tick */
bool isFloorPast;           /* the floor is above the observed tick */
#define rectangle (isFloorPast -> AFTER : (isPast -> COVERS : BEFORE))
bool issued;                /* someone has made the id of the observed tick */

/* A piece of work, and the step that it makes next. */
#define RENEW 1             /* renews, or acquires a node if there is nothing to renew */
#define ACQUIRE 2           /* acquires the first node, or a node for resume() */
#define GIVE 3              /* gives back for park() */
#define BEGIN 0
#define SEARCH 1
#define TAKE 2
#define TAKEN 3             /* waits for the answer to the write that takes the node */
#define MOVE 5
#define ABANDON 7           /* gives back a node that an attempt may have taken */
#define RAISE 10            /* writes a ceiling */
#define RAISED 11           /* waits for the answer */
#define WRITE 12            /* writes the record that is given back */
typedef Work {
  byte kind; byte step; bool isAborted;
  bool isOriginal;          /* park() was called on the machine that has the node */
  byte holds; bool isNow;   /* what it has taken or written, and whether the record has the version that it has read */
};
#define WORKS 2             /* the works of a lease: one under way, and one that waits */

#define ACQUIRING 0
#define HELD 1              /* or failing */
#define WORKING 2           /* renewing, moving */
#define PARKING 3
#define PARKED 4
#define RESUMING 5

/* A call that raises the generation is two steps: a device may tell of a copy in between. */
#define PARK 1
#define RESUME 2            /* of a lease that is not parked */
#define RESUME_PARKED 3
#define RESUME_AGAIN 4      /* while resume() is under way */
#define SIBLING_PARK 5
#define SIBLING_RESUME 6

typedef Machine {
  bool isThere;
  byte hook; bool isTold;   /* the call that is half done, and whether a device has told of a copy since */
  byte phase;
  Work work[WORKS];
  /* HeldNode: the node, the version of its record, and whether its machine has the present generation. */
  byte holds; bool isNow; bool isSame;
  /* The state of the engine: what it may issue, and whether its machine has the present generation. */
  byte state; bool isStateSame; bool isReserved;
  bool isUsed;              /* the id was made with this node, on this state or an earlier one */
  /* Acquisition: whether its attempt began at the present generation; the last write that tried to take. */
  bool isAttemptSame; bool hasTried; bool isTriedToken; bool isTriedOwn;
  bool isUnknownOwn;        /* the record was written by a renewal whose outcome is not known */
  bool isParked;            /* the program has called park(), and not resume() */
  bool isStopped;           /* the program has called park() or resume(), and no node was acquired since */
  bool isSiblingParked; bool isResumedSince;      /* since the other lease was parked */
  bool isQuiet              /* was copied, nothing tells it, and the program has not called resume() since */
};
Machine machine[2];
byte calls;                 /* how many hooks there were */
#define mayCall (matters && calls < CALLS)
#define M machine[m]
#define W machine[m].work[w]
byte i; byte j;

/* Nothing can go wrong any more if the floor is above the tick, and nobody has a rectangle with the tick. */
#define has(q) (machine[q].state == COVERS || machine[q].holds == COVERS || machine[q].work[0].holds == COVERS || machine[q].work[1].holds == COVERS)
#define matters (!isFloorPast || has(0) || has(1))

inline toldNoMore(q) {      /* the record has another version */
  machine[q].isNow = false; j = 0;
  do :: j < WORKS -> machine[q].work[j].isNow = false; j++ :: else -> j = 0; break od
}
inline newVersion() { toldNoMore(0); toldNoMore(1) }
inline newAttempt() {
  newVersion();
  machine[0].isTriedOwn = false; machine[0].isUnknownOwn = false; machine[1].isTriedOwn = false; machine[1].isUnknownOwn = false
}
/* A node may be free at any time: because of a release, an expiry, or a clock. */
inline takeRecord() {
  isFloorPast = isPast;
  if :: isPast :: else -> if :: isPast = true :: skip fi fi
}
inline copyWork(to, from) {
  to.kind = from.kind; to.step = from.step; to.isAborted = from.isAborted; to.isOriginal = from.isOriginal;
  to.holds = from.holds; to.isNow = from.isNow
}
inline dropWork(it) { it.kind = 0; it.step = 0; it.isAborted = false; it.isOriginal = false; it.holds = 0; it.isNow = false }
inline finish() {
  i = w;
  do :: i < WORKS - 1 -> copyWork(M.work[i], M.work[i + 1]); i++ :: else -> break od;
  dropWork(M.work[WORKS - 1]); i = 0
}
#define hasRoom (M.work[WORKS - 1].kind == 0)
inline begin(what, original) {
  i = 0;
  do :: M.work[i].kind -> M.work[i].isAborted = true; i++ :: else -> break od;
  M.work[i].kind = what; M.work[i].isOriginal = original; i = 0
}
inline sealNode() { M.state = NOTHING; M.isStateSame = false; M.isReserved = false }
inline goTo(next) { W.step = next }
inline forgetTry() { M.isTriedToken = false; M.isTriedOwn = false }

/* What a lease does after the hook of the other lease. */
inline goesOn(yes) {
  if
  :: yes ->
     if
     :: M.isSame ->         /* another state of the same node, above all that were used */
        if :: M.state == COVERS && M.isReserved && rule(D7) -> M.state = AFTER :: else fi;
        M.isReserved = false; M.isStateSame = true
     :: else
     fi
  :: else -> M.isSame = false; M.isAttemptSame = false
  fi
}

/* The work w of a machine takes a step. */
inline takeStep() {
  if
  :: W.kind == RENEW && W.step == BEGIN ->
     if
     :: W.isAborted -> finish()
     :: !W.isAborted && M.isSame ->
#ifdef RENEWALS
        goTo(RAISE)
#else
        printf("@ %d has lapsed\n", m); enter()
#endif
     :: !W.isAborted && !M.isSame -> printf("@ %d moves\n", m); enter()
     fi
  :: W.step == RAISE ->
     if
     :: M.isNow ->
        if :: isPast :: else -> if :: isPast = true :: skip fi fi;
        newAttempt(); W.isNow = true; W.holds = rectangle; M.isUnknownOwn = true; printf("@ %d renews\n", m); goTo(RAISED)
     :: !M.isNow && M.isUnknownOwn -> M.isNow = true; M.holds = rectangle
     :: !M.isNow && !M.isUnknownOwn -> printf("@ %d has lost\n", m); enter()
     :: fails()
     :: printf("@ %d has lapsed\n", m); enter()
     fi
  :: W.step == RAISED ->
     if
     :: printf("@ %d has renewed\n", m); M.isUnknownOwn = false;
        if :: M.holds -> M.holds = W.holds; M.isNow = W.isNow :: else fi;
        if
        :: W.isAborted -> finish()
        :: !W.isAborted && !M.isSame -> enter()
        :: !W.isAborted && M.isSame ->
           if :: M.state == BEFORE && M.holds == COVERS -> M.state = COVERS :: else fi;
           M.phase = HELD; finish()
        fi
     :: M.isUnknownOwn -> newVersion(); W.isNow = true
     :: !M.isUnknownOwn -> if :: W.isAborted -> finish() :: else -> printf("@ %d has lost\n", m); enter() fi
     :: fails()
     fi

  :: W.kind == ACQUIRE && W.step == BEGIN -> enter()
  :: W.step == SEARCH ->
     if
     :: W.isAborted -> giveUp()
     :: giveUp()
     :: W.isNow = true; goTo(TAKE)
     fi
  :: W.step == TAKE ->
     if
     :: W.isAborted -> W.isNow = false; giveUp()
     :: else ->
        M.hasTried = true; M.isTriedToken = true; M.isTriedOwn = false;
        if
        :: W.isNow -> takeRecord(); newAttempt(); M.isTriedOwn = true; W.isNow = true; W.holds = rectangle; printf("@ %d takes: %d\n", m, rectangle); goTo(TAKEN)
        :: !W.isNow -> forgetTry(); goTo(SEARCH)
        :: W.isNow = false; giveUp()
        fi
     fi
  :: W.step == TAKEN ->
     if
     :: printf("@ %d has taken\n", m); acquired()
     :: M.isTriedOwn -> newVersion(); W.isNow = true; printf("@ %d takes again\n", m); acquired()
     :: !M.isTriedOwn -> forgetTry(); W.holds = NOTHING; W.isNow = false; goTo(SEARCH)
     :: printf("@ %d has no answer\n", m); W.holds = NOTHING; W.isNow = false; giveUp()
     fi
  :: W.step == MOVE ->
     if
     :: W.isAborted && rule(D3) -> W.holds = NOTHING; W.isNow = false; giveUp()
     :: else ->
        forgetTry(); M.isUnknownOwn = false;
        M.holds = W.holds; M.isNow = W.isNow; M.isSame = (M.isAttemptSame || !rule(D5));
        M.state = W.holds; M.isStateSame = M.isSame; M.isReserved = false; M.isUsed = false;
        if :: M.isParked :: else -> M.isStopped = false fi;
        if :: M.phase != PARKING && M.phase != PARKED -> M.phase = HELD :: else fi;
        printf("@ %d holds %d\n", m, M.holds); finish()
     fi
  :: W.step == ABANDON ->
     if
     :: W.isNow -> isPast = isFloorPast; newAttempt(); printf("@ %d abandons\n", m)
     :: skip
     fi;
     W.isNow = false; failed()

  :: W.kind == GIVE && W.step == BEGIN ->
     sealNode();
     if
     :: M.holds && (W.isOriginal || !rule(D4)) -> W.holds = M.holds; W.isNow = M.isNow; goTo(WRITE)
     :: else -> gaveBack()
     fi;
     M.holds = NOTHING; M.isNow = false; M.isSame = false
  :: W.step == WRITE ->
     if
     :: W.isNow ->
        /* A process that is sealed writes the tick after the last tick that it has used. */
        isPast = (isFloorPast || (M.isUsed && isPast)); newAttempt();
        printf("@ %d gives back: %d\n", m, isPast); assert(!M.isUsed || isPast); gaveBack()
     :: !W.isNow && M.isUnknownOwn -> W.isNow = true
     :: gaveBack()
     fi
  fi
}
inline enter() {
  if :: M.phase == HELD -> M.phase = WORKING :: else fi;
  if :: !M.isAttemptSame -> M.isTriedToken = false; M.isAttemptSame = true :: else fi;
  M.hasTried = false; W.holds = NOTHING; W.isNow = false; goTo(SEARCH)
}
/* The node is acquired, unless the machine was copied since the attempt began. */
inline acquired() {
  if
  :: W.isAborted -> W.holds = NOTHING; W.isNow = false; giveUp()
  :: M.isAttemptSame || !rule(D5) -> goTo(MOVE)
  :: !M.isAttemptSame && rule(D5) -> printf("@ %d leaves\n", m); enter()
  fi
}
/* The attempt has failed, or was aborted. Reads the record, if there is something to give back. */
inline giveUp() {
  if
  :: (W.isAborted || M.phase == ACQUIRING || M.phase >= PARKING) && (M.isAttemptSame || !rule(D9)) && M.isTriedOwn && (M.isTriedToken || !rule(D10)) ->
     forgetTry(); W.isNow = true; goTo(ABANDON)
  :: else ->
     if :: W.isAborted || M.phase == ACQUIRING || M.phase >= PARKING -> if :: M.isAttemptSame && M.isTriedToken -> forgetTry() :: else fi :: else fi;
     failed()
  fi
}
inline fails() { if :: W.isAborted :: else -> M.phase = HELD fi; finish() }
inline failed() {
  if
  :: M.phase == ACQUIRING -> forgetTry(); goTo(BEGIN)       /* the program calls acquireLease() again */
  :: M.phase != ACQUIRING ->
     if
     :: W.isAborted
     :: !W.isAborted && W.kind == ACQUIRE -> M.phase = PARKED
     :: !W.isAborted && W.kind == RENEW -> M.phase = HELD
     fi;
     finish()
  fi
}
inline gaveBack() { if :: W.isAborted :: else -> M.phase = PARKED fi; M.isUsed = false; finish() }

proctype Lease(byte m) {
  byte w; bool isValid;
end:
  do
  :: atomic { matters && M.isThere && !M.hook && M.work[0].kind -> w = 0; takeStep(); w = 0 }
  :: atomic { !rule(D1) && matters && M.isThere && !M.hook && M.work[1].kind -> w = 1; takeStep(); w = 0 }
  :: d_step { matters && M.isThere && !M.hook && M.phase == HELD && hasRoom -> M.phase = WORKING; begin(RENEW, false) }

  /* A thread makes the id. Its run is of one state, and it compares the generation. */
  :: d_step {
       M.isThere && M.state == COVERS && M.isStateSame && !M.isReserved && !M.isQuiet ->
       printf("@ %d issues\n", m); assert(!M.isStopped); assert(!issued); issued = true; M.isReserved = true; M.isUsed = true
     }

  /* The calls of the program. Each seals, and raises the generation. */
  :: d_step {
       mayCall && M.isThere && !M.hook && hasRoom && (M.phase == HELD || M.phase == WORKING || M.phase == RESUMING) ->
       printf("@ %d park\n", m); calls++; M.hook = PARK; M.phase = PARKING; M.isParked = true; M.isStopped = true;
       if :: rule(D2) -> sealNode() :: else fi
     }
  :: d_step {
       mayCall && M.isThere && !M.hook && M.phase != ACQUIRING && (hasRoom || M.phase == RESUMING) ->
       printf("@ %d resume\n", m); calls++;
       M.hook = (M.phase == RESUMING -> RESUME_AGAIN : (M.phase >= PARKING -> RESUME_PARKED : RESUME));
       M.phase = RESUMING; M.isParked = false; M.isStopped = true; sealNode()
     }
  :: d_step { mayCall && M.isThere && !M.hook -> printf("@ %d park of the other\n", m); calls++; M.hook = SIBLING_PARK; M.isStateSame = false }
  :: d_step { mayCall && M.isThere && !M.hook -> printf("@ %d resume of the other\n", m); calls++; M.hook = SIBLING_RESUME; M.isStateSame = false }
  :: d_step { M.isThere && !M.hook && M.isSiblingParked -> M.isSiblingParked = false; M.isResumedSince = false }

  :: d_step {               /* the second half of a call */
       M.hook -> isValid = (!M.isTold || !rule(D6)); printf("@ %d %d told %d\n", m, M.hook, M.isTold);
       if
       :: M.hook == PARK ->
          if :: isValid :: else -> M.isAttemptSame = false fi;
          begin(GIVE, M.isSame && isValid); M.isSame = false
       :: M.hook == RESUME || M.hook == RESUME_PARKED ->
          if :: M.hook == RESUME -> M.holds = NOTHING; M.isNow = false :: else fi;
          M.isAttemptSame = false; M.isSame = false; M.isResumedSince = M.isSiblingParked; M.isQuiet = false; begin(ACQUIRE, false)
       :: M.hook == RESUME_AGAIN ->
          M.isAttemptSame = (M.isAttemptSame && isValid && (!M.hasTried || !rule(D11)));
          M.isSame = false; M.isResumedSince = M.isSiblingParked; M.isQuiet = false
       :: M.hook == SIBLING_PARK -> goesOn(isValid); M.isSiblingParked = true; M.isResumedSince = false
       :: M.hook == SIBLING_RESUME -> goesOn(isValid && ((M.isSiblingParked && M.isResumedSince) || !rule(D8))); M.isQuiet = false
       fi;
       M.hook = 0; M.isTold = false; isValid = false
     }
  od
}

inline copyMachine() {
  machine[1].isThere = true; machine[1].hook = machine[0].hook; machine[1].isTold = machine[0].isTold; machine[1].phase = machine[0].phase;
  copyWork(machine[1].work[0], machine[0].work[0]); copyWork(machine[1].work[1], machine[0].work[1]);
  machine[1].holds = machine[0].holds; machine[1].isNow = machine[0].isNow; machine[1].isSame = machine[0].isSame;
  machine[1].state = machine[0].state; machine[1].isStateSame = machine[0].isStateSame; 
  machine[1].isReserved = machine[0].isReserved; machine[1].isUsed = machine[0].isUsed; machine[1].isAttemptSame = machine[0].isAttemptSame;
  machine[1].hasTried = machine[0].hasTried; machine[1].isTriedToken = machine[0].isTriedToken;
  machine[1].isTriedOwn = machine[0].isTriedOwn; machine[1].isUnknownOwn = machine[0].isUnknownOwn;
  machine[1].isParked = machine[0].isParked; machine[1].isStopped = machine[0].isStopped;
  machine[1].isSiblingParked = machine[0].isSiblingParked; machine[1].isResumedSince = machine[0].isResumedSince
}

/* Copies of the machine, and other processes. */
proctype Nature() {
end:
  do
#ifndef ALONE
#ifndef UNTOLD
  :: d_step {               /* a device tells the copy, before anything else happens there */
       matters && machine[0].isThere && !machine[1].isThere -> printf("@ - copied, and told\n"); copyMachine();
       if
       :: machine[1].hook -> machine[1].isTold = true
       :: else -> machine[1].isSame = false; machine[1].isStateSame = false; machine[1].isAttemptSame = false
       fi
     }
#endif
  :: d_step {               /* nothing tells it: both make no id until resume() is called there */
       matters && machine[0].isThere && !machine[1].isThere && (!machine[0].hook || machine[0].hook == PARK || machine[0].hook == SIBLING_PARK) &&
       (machine[0].isParked || !machine[0].isResumedSince) ->
       printf("@ - copied\n"); copyMachine(); machine[0].isQuiet = true; machine[1].isQuiet = true
     }
#endif
  :: atomic {               /* another process has the node; it may make the id if its rectangle has the tick */
       matters;
       if
       :: !isPast -> isPast = true; assert(!issued); issued = true; printf("@ - another issues\n")
       :: printf("@ - another has the node\n")
       fi;
       isFloorPast = isPast; newAttempt()
     }
  od
}

init {
  atomic {
    machine[0].isThere = true; machine[0].isAttemptSame = true; machine[0].work[0].kind = ACQUIRE;
    run Lease(0); run Lease(1); run Nature()
  }
}
