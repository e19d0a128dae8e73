/*
 * Strict order: an answer that was given before a request was made has a smaller id. This is the argument of
 * docs/order-proof.md for Spin. `npm run model` checks it.
 *
 * Two servers share a node. The holder renews its record and answers; the other server watches the record,
 * and takes the node. The lease of a server and a request are processes, which may stop between any two steps
 * for any time. The monotonic clocks tick at any moment, and differ by at most a tick.
 * An id is the number of the acquisition that it is made with: model/lease.pml has the ids of one acquisition
 * and the floor of the next one.
 * Lines that begin with @ tell what happens.
 *
 * WITHOUT=T2 removes a rule. TAKES and WRITES bound the acquisitions, and all writes of the record.
 */

mtype:rule = {
  T1,    /* a term begins before the write is sent that the store acknowledges */
  T2,    /* an answer is given only if the term is not over */
  T3,    /* the term is read before the id is made, and has to be the same afterwards */
  T4,    /* a write fails if another server has written since the record was read */
  T5,    /* a standby watches each version of the record for a window of its own clock */
  T6,    /* a term is shorter than the window, by as much as the clocks may differ */
  T7,    /* a holder that gives its node back ends its term before the store is told */
  none
};
#ifndef WITHOUT
#define WITHOUT none
#endif
#define rule(name) (WITHOUT != name)

#ifndef TAKES
#define TAKES 3
#endif
#ifndef WRITES
#define WRITES 4
#endif
#define WINDOW 2
#define TERM (rule(T6) -> WINDOW - 1 : WINDOW)

byte version;               /* of the record */
bool isReleased = true;     /* whether the record says so */
byte takes;                 /* acquisitions so far */
byte answered;              /* the largest id that any client got */

byte held[2];               /* the acquisition that each server has; 0 if none */
byte generator[2];          /* the acquisition with which each server makes ids, until it has another one */
byte left[2];               /* ticks until the term of each server is over */
byte sinceSent[2];          /* ticks since the call that is under way began, up to a window */
byte watched[2];            /* ticks since the version was first seen, up to a window */
bool isAhead;               /* whether the clock of server 1 has ticked once more than that of server 0 */

inline tick(s) {
  left[s] = (left[s] > 0 -> left[s] - 1 : 0);
  sinceSent[s] = (sinceSent[s] < WINDOW -> sinceSent[s] + 1 : WINDOW);
  watched[s] = (watched[s] < WINDOW -> watched[s] + 1 : WINDOW)
}

proctype Clocks() {
  do
  :: d_step { isAhead -> tick(0); isAhead = false }
  :: d_step { !isAhead -> tick(1); isAhead = true }
  od
}

/* The write arrives at the store; `landed` is the new version, or 0 if the store has refused it. */
inline write(released) {
  if
  :: version < WRITES && (expected == version || !rule(T4)) ->
     version++; landed = version; isReleased = released
  :: else -> landed = 0
  fi
}

inline begin() {
  known = landed;
  left[s] = (rule(T1) -> (sinceSent[s] < TERM -> TERM - sinceSent[s] : 0) : TERM)
}

inline lose() { held[s] = 0; left[s] = 0 }

proctype Lease(byte s) {
  byte known, expected, landed, took;
  bool hasSeen;
  do
  :: atomic { held[s] > 0 -> sinceSent[s] = 0; expected = known };      /* renews */
     atomic { write(false); printf("@ %d renews: %d\n", s, landed) };
     if
     :: atomic { landed > 0 -> begin(); landed = 0; expected = 0 }
     :: atomic { landed > 0 -> landed = 0; expected = 0 }               /* the answer is lost */
     :: atomic { landed == 0 -> lose(); expected = 0 }
     fi
  :: atomic {                                                           /* gives the node back */
       held[s] > 0 ->
       expected = known;
       if
       :: rule(T7) -> lose()
       :: else
       fi
     };
     atomic { write(true); printf("@ %d releases: %d\n", s, landed) };
     atomic { lose(); known = 0; expected = 0; landed = 0 }
  :: atomic {                                                           /* looks at the record */
       held[s] == 0 ->
       sinceSent[s] = 0;
       if
       :: !hasSeen || (rule(T5) && expected != version) -> hasSeen = true; watched[s] = 0
       :: else
       fi;
       expected = version
     };
     if
     :: atomic {                                                        /* takes the node */
          takes < TAKES && (isReleased || watched[s] >= WINDOW) ->
          write(false);
          if
          :: landed > 0 -> takes++; took = takes; printf("@ %d takes the node: %d\n", s, took)
          :: else
          fi
        };
        if
        :: atomic {
             landed > 0 ->
             begin(); held[s] = took; generator[s] = took;
             hasSeen = false; expected = 0; landed = 0; took = 0
           }
        :: landed == 0
        fi
     :: skip
     fi
  od
}

/* A request to server 0. A server is like the other, so no other slow request has to be looked at. */
proctype Request() {
  byte before, term, id;
  bool isGiven;
  do
  :: d_step { before = answered; term = held[0]; printf("@ asked, after %d\n", before) };
     d_step { id = generator[0]; printf("@ makes %d\n", id) };
     d_step {
       if
       :: !rule(T3) -> term = held[0]
       :: else
       fi;
       isGiven = id > 0 && (!rule(T2) || (term > 0 && term == held[0] && left[0] > 0));
       term = 0
     };
     d_step {
       if
       :: isGiven ->
          printf("@ answers %d\n", id);
          assert(id >= before);
          answered = (id > answered -> id : answered)
       :: else
       fi;
       before = 0; id = 0; isGiven = false
     }
  od
}

/* An answer of server 1 to a request that comes now. The answers of server 0 are those of Request. */
proctype Answers() {
  do
  :: d_step {
       held[1] > answered && left[1] > 0 -> answered = held[1]; printf("@ 1 answers %d\n", answered)
     }
  od
}

init {
  atomic {
    run Clocks();
    run Lease(0); run Lease(1);
    run Request(); run Answers()
  }
}
