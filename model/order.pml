/*
 * An id that is made after another was observed is larger: docs/order-proof.md for Spin. `npm run model`
 * checks it.
 *
 * One host of a small layout: timestamp, node, sequence. Two generators of a thread make ids, in any order. A
 * lease gives the host the one node or the other, and moves at any time; its thread seals the former state
 * first. Others make ids of any time, and the host observes them at any time. The clock shows any tick at any
 * time.
 * Lines that begin with @ tell what happens.
 *
 * WITHOUT=O2 removes a rule. MOVES is how often the lease moves.
 */

mtype:rule = {
  O1,    /* the word rises above the id, also if the clock is above the id already */
  O2,    /* the slots of the run that lie below are dropped */
  O3,    /* after a move, a state begins after the ticks of all observed ids */
  O4,    /* a generator that observes looks whether the lease has moved, and moves first */
  none
};
#ifndef WITHOUT
#define WITHOUT none
#endif
#define rule(name) (WITHOUT != name)

#ifndef MOVES
#define MOVES 1
#endif
#define TICKS 3
#define SEQUENCES 2
#define NODES 2
#define first(tick) ((tick) * SEQUENCES)
#define idOf(tick, n, sequence) (((tick) * NODES + (n)) * SEQUENCES + (sequence))
#define idAt(slot, n) idOf((slot) / SEQUENCES, n, (slot) % SEQUENCES)
#define max(a, b) (a > b -> a : b)

/* The state of an acquisition: the word, and the thread's run of it. */
typedef Counted { byte word, next, end, node };
Counted states[MOVES + 1];
#define own states[at[g]]

byte clock;
byte acquisition;           /* the state that the lease has published */
byte sealedTick;            /* the tick after all that were used */
bool isSealed;
byte at[2];                 /* the acquisition that each generator follows */
byte observed;              /* one more than the tick of the latest observed id; in the memory of the lease */
byte seen[3];               /* one more than the largest id that each generator has observed, and any of them */

/* A generator follows the lease: its new state begins above all that is known. */
inline follow() {
  if
  :: at[g] != acquisition ->
     at[g] = acquisition;
     own.word = max(own.word, first(sealedTick));
     if
     :: rule(O3) -> own.word = max(own.word, first(observed))
     :: else
     fi
  :: else
  fi
}

/* The least slot of the generator's node whose id is larger than x. */
inline slotAbove() {
  tick = x / (NODES * SEQUENCES);
  sequence = x % SEQUENCES;
  if
  :: idOf(tick, own.node, 0) > x -> slot = first(tick)
  :: else ->
     if
     :: idOf(tick, own.node, sequence) > x -> slot = first(tick) + sequence
     :: else ->
        if
        :: sequence + 1 < SEQUENCES && idOf(tick, own.node, sequence + 1) > x -> slot = first(tick) + sequence + 1
        :: else -> slot = first(tick + 1)
        fi
     fi
  fi
}

inline exceed() {
  slotAbove();
  if
  :: rule(O1) || first(clock) < slot -> own.word = max(own.word, slot)
  :: else
  fi;
  if
  :: rule(O2) && own.next < slot -> own.next = (own.end < slot -> own.end : slot)
  :: else
  fi
}

#define hasRun (own.next < own.end && own.next / SEQUENCES == clock)

/* Makes an id of the next slot of the run. */
inline make() {
  printf("@ %d makes %d\n", g, idAt(own.next, own.node));
  assert(idAt(own.next, own.node) + 1 > seen[g]);
  /* The rest of a run of the former node is not covered for the other generator. */
  assert(at[g] != acquisition || idAt(own.next, own.node) + 1 > seen[2]);
  own.next++
}

proctype Host() {
  byte g, x, tick, sequence, slot;
  do
  :: d_step {               /* the clock steps */
       clock < TICKS - 1 -> clock++
     }
  :: d_step {
       clock > 0 -> clock--; printf("@ the clock steps back to %d\n", clock)
     }
  :: atomic {               /* the lease seals the state */
       acquisition < MOVES && !isSealed ->
       isSealed = true;
       sealedTick = (states[acquisition].word == 0 -> 0 : (states[acquisition].word - 1) / SEQUENCES + 1);
       printf("@ sealed before tick %d\n", sealedTick)
     }
  :: atomic {               /* and moves */
       isSealed ->
       isSealed = false;
       acquisition++;
       states[acquisition].node = 1 - states[acquisition - 1].node;
       printf("@ moved to node %d\n", states[acquisition].node)
     }
  :: atomic {               /* a generator observes an id of another host */
       g = 0;
       if
       :: g = 1
       :: skip
       fi;
       x = 0;
       do
       :: x < idOf(TICKS - 2, NODES - 1, SEQUENCES - 1) -> x++
       :: break
       od;
       exceed();
       tick = x / (NODES * SEQUENCES);
       observed = max(observed, tick + 1);
       if
       :: rule(O4) && at[g] != acquisition -> follow(); exceed()
       :: else
       fi;
       seen[g] = max(seen[g], x + 1);
       seen[2] = max(seen[2], x + 1);
       printf("@ %d observes %d\n", g, x);
       tick = 0; sequence = 0; slot = 0; x = 0
     }
  :: atomic {               /* a generator makes an id, if its policy lets it */
       g = 0;
       if
       :: g = 1
       :: skip
       fi;
       if
       :: hasRun -> make()
       :: !hasRun && at[g] == acquisition && isSealed            /* the call waits, or throws */
       :: !hasRun && !(at[g] == acquisition && isSealed) ->
          follow();
          if
          :: max(own.word, first(clock)) < first(TICKS) ->       /* reserves the rest of a tick */
             own.next = max(own.word, first(clock));
             own.end = first(own.next / SEQUENCES + 1);
             own.word = own.end;
             make()
          :: else                                                /* the layout has ended */
          fi
       fi
     }
  od
}

init { atomic { run Host() } }
