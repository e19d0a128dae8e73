/*
 * The lease of docs/lease-proof.md for Spin. `npm run model` checks it, and docs/model.md says what it
 * covers.
 *
 * One node, some processes, and one server with a replica. Each atomic block is one call of the store, with
 * all that the process does until its next call. A process may stop between two calls for any time. Lines
 * that begin with @ tell what happens. The model observes one tick, which is chosen at the beginning. Any
 * tick may be chosen, so the claims hold for all ticks.
 *
 * Names that `-D` defines:
 *   WITHOUT=B3   removes rule B.3 of docs/lease-proof.md, and so on for each rule
 *   FORGETS      the store may forget what it has acknowledged. Otherwise it is durable, and its clock shows
 *                any time at any time
 *   LIVE         all clocks are right, and no replica stays away. Checks that some process gets a node
 *   TICK         the tick that is observed; any tick if it is not defined
 *   WINDOW, TICKS, FAULTS, PROCESSES   a window, the last time, the number of faults, 2 or 3 processes.
 *                                      Faults are crashes, requests that are lost or late, replicas that are
 *                                      behind, and removed records. An answer is lost if a late request lands
 *                                      at once
 */

mtype:rule = { A1, A2, A3, A4, B1, B2, B3, B4, B5, C1, C2, C3, C4, C5, C6, none };
#ifndef WITHOUT
#define WITHOUT none
#endif
#define rule(name) (WITHOUT != name)

#if defined(FORGETS) || defined(LIVE)
#define CLOCK
#define SKEW 1              /* maxClockSkewMs */
#define wasReleased (doing == RELEASE)
#else
#define SKEW 0              /* makes no difference if clocks show any time, and a node may be free at any time */
#define wasReleased false
#endif
#define FORGOTTEN (rule(C1) -> WINDOW : 0)      /* maxForgottenMs */
mtype = { TAKE, RENEW, RELEASE, LIFE };

/* Process p is the holder p + 1. GONE is a holder that nobody is any more: its process has crashed, or has
   a new token. */
#define NOBODY 0
#define GONE 15

/* A version is a UUID. So all that matters about a version that a process remembers is which records
   have it. */
#define ABSENT 4            /* there was no record */
#define COPY 2              /* the replica's record has this version */
#define HERE 1              /* the server's record has this version */
#define written(version) (version & 6)
#define cut(version) ((version & 5) | ((version & HERE) << 1))
#define reunited(version) (version & 5)
#define promoted(version) ((version & 4) | ((version & COPY) >> 1))
#define found(exists, isSame) (exists -> HERE | (isSame << 1) : ABSENT)
#define has(version, exists) ((version & HERE) || (version == ABSENT && !exists))

/* An attempt is a random text. So all that matters is what it is to the process that has made it. */
#define CURRENT 1           /* the write that the process tries at present */
#define UNKNOWN 2           /* a write whose outcome the process does not know */

/* The record of the node at the server, at the replica while it is cut off, and in a request that was
   given up. */
typedef Lease { byte holder; byte attempt; byte ceiling; bool released };
Lease lease, leaseCopy, lateLease[PROCESSES];
/* The record of the server's life. `since` is 0 until it is known. */
typedef Life { byte incarnation; byte since; byte writer };
Life life, lifeCopy, lateLife[PROCESSES];
bool isCut, isLeaseSame, isLifeSame;      /* whether the server and the replica have the same version */
byte incarnation = 1;
byte trueTime, ahead;       /* the true time, and by how much the server's clock is ahead */
byte faults;
typedef Process {
  bool holds; byte version; byte floor; byte ceiling;     /* what the store has acknowledged */
  byte reserved;            /* how many threads have reserved the slot of `tick`; each by itself without A.3 */
  byte expects; byte next; byte newFloor; byte oldCeiling;        /* the write that it tries */
  byte lifeVersion; byte seen; byte since;                /* the proof that the server is trusted */
  byte lateExpects;
  bool isDead
};
Process process[PROCESSES];
#define me process[p]
byte tick;                  /* the tick that is observed */
byte owner;                 /* the process that has it in a rectangle; GONE if that has ended and the tick was not given back */
bool issued;                /* an id of it was made */
byte i;
#define change(version, f) version = f(version)
/* A late request that expects a version that no record has can never land. */
#define changeLate(late, exists, drop, f) if :: late[i].exists -> change(process[i].lateExpects, f); if :: !process[i].lateExpects -> drop(late[i]) :: else fi :: else fi
#define forLeases(f) i = 0; do :: i < PROCESSES -> change(process[i].version, f); change(process[i].expects, f); changeLate(lateLease, holder, dropLease, f); i++ :: else -> i = 0; break od
#define forLives(f) i = 0; do :: i < PROCESSES -> change(process[i].lifeVersion, f); changeLate(lateLife, incarnation, dropLife, f); i++ :: else -> i = 0; break od
inline copyLease(to, from) { to.holder = from.holder; to.attempt = from.attempt; to.ceiling = from.ceiling; to.released = from.released }
inline copyLife(to, from) { to.incarnation = from.incarnation; to.since = from.since; to.writer = from.writer }
inline dropLease(l) { l.holder = 0; l.attempt = 0; l.ceiling = 0; l.released = 0 }
inline dropLife(l) { l.incarnation = 0; l.since = 0; l.writer = 0 }
inline retagOne(l, q, from, to) { if :: l.holder == q + 1 && l.attempt == from -> l.attempt = to :: else fi }
inline retag(q, from, to) { retagOne(lease, q, from, to); retagOne(leaseCopy, q, from, to); retagOne(lateLease[q], q, from, to) }
inline leave(l, q) { if :: l.holder == q + 1 -> l.holder = GONE; l.attempt = 0 :: else fi }
/* The process has a new token: it recognizes nothing that it has written before. */
inline newToken(q) { leave(lease, q); leave(leaseCopy, q); leave(lateLease[q], q) }
inline forgetWork(q) { process[q].expects = 0; process[q].next = 0; process[q].newFloor = 0; process[q].oldCeiling = 0 }
inline forgetProof(q) { process[q].lifeVersion = 0; process[q].seen = 0; process[q].since = 0 }

/* A record that a process would write. */
inline putLease(l, q) { l.holder = q + 1; l.attempt = CURRENT; l.ceiling = process[q].next; l.released = wasReleased }
inline putLife(l, q) { l.incarnation = process[q].seen; l.since = process[q].next; l.writer = q + 1 }
inline readTime() {
#ifdef CLOCK
  t = trueTime + ahead;
#else
  select(t : 0 .. TICKS);
#endif
  printf("@ %d nowMs %d\n", p, t)
}

/* The process may use the ticks from its floor up to its ceiling. */
inline check() {            /* B: rectangles are disjoint */
  if :: me.floor <= tick && tick < me.ceiling -> assert(owner == NOBODY || owner == p + 1); owner = p + 1 :: else fi
}

/* The rectangle rises no more. All that matters about it is whether an id of `tick` may be made. */
inline stop() {
  me.version = 0;
  if
  :: me.floor <= tick && tick < me.ceiling && !me.reserved -> me.floor = tick; me.ceiling = tick + 1
  :: else -> me.holds = 0; me.floor = 0; me.ceiling = 0; me.reserved = 0
  fi
}
#define isFree(l) (l.holder == NOBODY || l.holder == p + 1 || l.ceiling + SKEW < t || (l.released && l.ceiling < t + SKEW))
#define isOwn(tag) (lease.holder == p + 1 && lease.attempt == tag)
#define isOwnLife (life.writer == p + 1 && life.incarnation == me.seen && life.since == me.next)
#define trustedAt (me.since + FORGOTTEN + SKEW)
#define mayFail (faults < FAULTS)
#define fail faults++
#ifdef FORGETS
#define isAnswered true
#else
#define isAnswered (!isCut) /* a synchronous replica has to confirm the write */
#endif

/* The thread of the lease. */
proctype Holder(byte p) {
  mtype doing; byte t;
begin:
  { doing = 0;
acquire:
  atomic { printf("@ %d acquires\n", p); forgetWork(p); forgetProof(p); retag(p, CURRENT, 0); retag(p, UNKNOWN, 0); t = 0; doing = 0 }
prove:
#ifdef FORGETS
  atomic { me.lifeVersion = found(life.incarnation, isLifeSame); me.since = life.since; t = life.incarnation; printf("@ %d read life\n", p) }
  d_step {
    printf("@ %d incarnation\n", p); me.seen = incarnation;
    if :: rule(C2) && t != me.seen -> me.since = 0; me.next = 1 :: else fi; t = 0
  }
  atomic {
    readTime();
    if
    :: me.since == 0 -> me.next = (me.next || me.lifeVersion == ABSENT -> 0 : t); t = 0; doing = LIFE; goto send
    :: rule(C3) && me.since != 0 && t <= trustedAt -> printf("@ %d waits\n", p); forgetProof(p); t = 0; goto prove
    :: else
    fi
  }
#endif
  atomic {
#ifndef FORGETS
    readTime();
#endif
    printf("@ %d list\n", p);
    if
    :: isFree(lease) ->
       me.newFloor = (rule(B3) && lease.holder -> lease.ceiling : t);
#ifdef FORGETS
       if :: rule(C3) && me.newFloor < trustedAt -> me.newFloor = trustedAt :: else fi;
#endif
       me.next = (me.newFloor < t + WINDOW -> t + WINDOW : me.newFloor);
       me.expects = found(lease.holder, isLeaseSame);
       me.since = 0; t = 0; doing = TAKE; goto send
    :: else -> printf("@ %d is held\n", p); goto acquire
    fi
  }

#ifdef FORGETS
proven:
  atomic {
    printf("@ %d read life\n", p);
    if :: !has(me.lifeVersion, life.incarnation) -> forgetWork(p); forgetProof(p); goto prove :: else -> me.lifeVersion = 0 fi
  }
  atomic {
    printf("@ %d incarnation\n", p);
    if :: incarnation != me.seen -> forgetWork(p); forgetProof(p); goto prove :: else fi
  }
#endif
move:
  atomic {
    if :: owner == p + 1 -> owner = GONE :: else fi; me.holds = true; me.reserved = 0; me.version = me.expects; me.floor = me.newFloor; me.ceiling = me.next;
    printf("@ %d holds %d %d\n", p, me.floor, me.ceiling); forgetWork(p); forgetProof(p); check()
  }

held:
  atomic {
    me.expects = me.version; me.oldCeiling = me.ceiling;
    if :: printf("@ %d renews\n", p) :: goto release fi;
#ifdef FORGETS
    goto renew
#endif
  }
renew:                      /* over the record that it expects, whose ceiling is `oldCeiling` */
  atomic {
    readTime();
    if :: rule(C6) && t >= me.oldCeiling -> printf("@ %d lapsed\n", p); stop(); goto acquire :: else fi;
    me.next = t + WINDOW; t = 0;
    if :: rule(B2) && me.next < me.oldCeiling -> me.next = me.oldCeiling :: else fi;
    doing = RENEW; goto send
  }
renewed:                    /* `doing` is 0 if an earlier write of its own has landed instead */
  atomic {
#ifdef FORGETS
    if :: mayFail -> fail; printf("@ %d nowMs fails\n", p); forgetWork(p); doing = 0; goto held :: readTime() fi;
    if :: rule(C6) && t >= me.oldCeiling -> printf("@ %d lapsed\n", p); stop(); goto acquire :: else fi;
#endif
    t = 0; if :: doing == RENEW -> me.version = me.expects :: else -> me.oldCeiling = me.next; goto renew fi;
raise:
    if :: me.ceiling < me.next -> me.ceiling = me.next :: else fi;
    printf("@ %d raises %d\n", p, me.ceiling); forgetWork(p); doing = 0; check(); goto held
  }

release:
  atomic {                  /* t is the tick after the last one that was reserved, perhaps on an earlier node */
    select(t : 0 .. me.ceiling);
    if :: me.reserved && t <= tick -> t = tick + 1 :: else fi;
    printf("@ %d releases %d\n", p, t); me.next = (t < me.floor -> me.floor : t);
    if :: owner == p + 1 -> owner = (t <= tick -> NOBODY : GONE) :: else fi;
    t = 0; doing = RELEASE; me.version = 0; me.oldCeiling = 0;
    if :: rule(A4) -> me.holds = false; me.floor = 0; me.ceiling = 0; me.reserved = 0 :: else fi;
    goto send
  }
released:
  atomic { printf("@ %d released\n", p); newToken(p); goto acquire }

  /* Writes a record, and finds out whether the write has landed (StoreCalls.write). */
send:
  atomic {
    if :: !rule(B1) -> printf("@ %d read lease\n", p); me.expects = found(lease.holder, isLeaseSame) :: else fi;
    if
    :: mayFail && !lateLease[p].holder && !lateLife[p].incarnation ->
       fail; printf("@ %d write late\n", p);
       if :: doing == LIFE -> putLife(lateLife[p], p); me.lateExpects = me.lifeVersion
          :: else -> putLease(lateLease[p], p); me.lateExpects = me.expects fi
    :: doing == LIFE && has(me.lifeVersion, life.incarnation) ->
       d_step { forLives(written); isLifeSame = false; putLife(life, p); printf("@ %d write answered\n", p) };
       forgetWork(p); forgetProof(p); doing = 0; goto prove
    :: doing != LIFE && has(me.expects, lease.holder) ->
       d_step { forLeases(written); isLeaseSame = false; putLease(lease, p) };
       if :: isAnswered -> printf("@ %d write answered\n", p); me.expects = HERE; goto landed :: else -> printf("@ %d write unanswered\n", p) fi
    :: (doing == LIFE -> !has(me.lifeVersion, life.incarnation) : !has(me.expects, lease.holder)) -> printf("@ %d write refused\n", p)
    fi
  }
  atomic {                  /* reads the record that it has tried to write */
    if
    :: doing == LIFE ->
       printf("@ %d read life\n", p);
       if
       :: has(me.lifeVersion, life.incarnation)
       :: !has(me.lifeVersion, life.incarnation) && isOwnLife -> me.lifeVersion = found(true, isLifeSame)
       :: !has(me.lifeVersion, life.incarnation) && !isOwnLife -> forgetWork(p); forgetProof(p); doing = 0; goto prove
       fi
    :: else ->
       printf("@ %d read lease\n", p);
       if
       :: has(me.expects, lease.holder)
       :: !has(me.expects, lease.holder) && isOwn(CURRENT) ->
          me.expects = found(true, isLeaseSame);
          if :: !rule(B5) -> goto landed :: else fi
       :: !has(me.expects, lease.holder) && !isOwn(CURRENT) ->
          if :: rule(B4) -> goto refused :: else -> me.expects = found(lease.holder, isLeaseSame) fi
       fi
    fi;
    if :: printf("@ %d repeats\n", p); goto send :: printf("@ %d gives up\n", p) fi;
    if
    :: doing == RENEW ->
       retag(p, CURRENT, UNKNOWN);
       if :: rule(A2) -> forgetWork(p); doing = 0; goto held :: else -> goto raise fi
    :: doing == RELEASE -> goto released
    :: else -> goto acquire
    fi;
landed:
    retag(p, UNKNOWN, 0);
#ifdef FORGETS
    retag(p, CURRENT, (doing == RENEW -> UNKNOWN : 0));
    if :: doing == TAKE && rule(C4) -> doing = 0; goto proven :: else fi;
#else
    retag(p, CURRENT, 0);
#endif
    if :: doing == TAKE -> doing = 0; goto move :: doing == RENEW -> goto renewed :: doing == RELEASE -> goto released fi;
refused:
    retag(p, CURRENT, 0);
    if
    :: doing == TAKE -> forgetWork(p); forgetProof(p); doing = 0; goto prove
    :: doing == RENEW && isOwn(UNKNOWN) -> me.expects = found(true, isLeaseSame); me.next = lease.ceiling; doing = 0; goto renewed
    :: doing == RENEW && !isOwn(UNKNOWN) -> printf("@ %d lost\n", p); stop(); newToken(p); goto acquire
    :: doing == RELEASE && isOwn(UNKNOWN) -> me.expects = found(true, isLeaseSame); goto send
    :: doing == RELEASE && !isOwn(UNKNOWN) -> goto released
    fi
  }
  }
  unless { d_step { me.isDead -> me.isDead = false; doing = 0; t = 0 }; goto begin }
}

/* Another thread of the process, which makes ids of `tick`. */
proctype Caller(byte p) {
  do
  :: d_step {
       me.holds && me.floor <= tick && (tick < me.ceiling || !rule(A1)) && me.reserved < (rule(A3) -> 1 : 2) ->
       me.reserved++; printf("@ %d issues\n", p);
       assert(owner == p + 1); assert(!issued); issued = true       /* A: inside of its rectangle, and never the same id twice */
     }
  od
}
inline crash(q) {
  if :: owner == q + 1 -> owner = GONE :: else fi;
  newToken(q); forgetWork(q); forgetProof(q); process[q].isDead = true;
  process[q].holds = 0; process[q].version = 0; process[q].floor = 0; process[q].ceiling = 0; process[q].reserved = 0
}
inline useCopy() { forLeases(promoted); forLives(promoted); copyLease(lease, leaseCopy); copyLife(life, lifeCopy); dropCopy() }
inline dropCopy() { dropLease(leaseCopy); dropLife(lifeCopy); isCut = false; isLeaseSame = false; isLifeSame = false }

/* The network, crashes, the server and its replica. */
proctype Nature() {
  byte q;
  do
  :: atomic {               /* a late request lands, or is lost */
       select(q : 0 .. PROCESSES - 1);
       if
       :: lateLease[q].holder && has(process[q].lateExpects, lease.holder) -> printf("@ %d late lands\n", q);
          d_step { copyLease(lease, lateLease[q]); isLeaseSame = false; forLeases(written) }
       :: lateLife[q].incarnation && has(process[q].lateExpects, life.incarnation) -> printf("@ %d late lands\n", q);
          d_step { copyLife(life, lateLife[q]); isLifeSame = false; forLives(written) }
       :: lateLease[q].holder || lateLife[q].incarnation -> printf("@ %d late drops\n", q)
       fi;
       d_step { dropLease(lateLease[q]); dropLife(lateLife[q]); process[q].lateExpects = 0; q = 0 }
     }
  :: atomic {
       mayFail -> fail; select(q : 0 .. PROCESSES - 1); printf("@ %d crashes\n", q);
       d_step { crash(q); q = 0 }
     }
#if defined(FORGETS) || !defined(LIVE)
  :: d_step {               /* the replica is behind from now on */
       !isCut && mayFail -> fail; isCut = true; isLeaseSame = true; isLifeSame = true;
       forLeases(cut); forLives(cut); copyLease(leaseCopy, lease); copyLife(lifeCopy, life); printf("@ - cut\n")
     }
#endif
  :: d_step { isCut -> forLeases(reunited); forLives(reunited); dropCopy(); printf("@ - reunited\n") }
#ifndef FORGETS
  :: d_step { isCut -> useCopy(); printf("@ - promoted\n") }
#else
  :: atomic {               /* a failover to a replica that is behind */
       isCut -> incarnation++; select(ahead : 0 .. SKEW);
       d_step { useCopy(); printf("@ - promoted %d\n", ahead) }
     }
  :: atomic {               /* the folder of the node is removed or evicted, and the clock may step */
       mayFail -> fail; select(ahead : 0 .. SKEW);
       d_step {
         forLeases(written); dropLease(lease); isLeaseSame = false;
         if :: rule(C5) -> forLives(written); dropLife(life); isLifeSame = false :: else fi;
         printf("@ - emptied %d\n", ahead)
       }
     }
#endif
  od
}

#ifdef CLOCK
proctype Clock() {
  do
#ifdef LIVE
  :: trueTime < TICKS || trueTime <= life.since + FORGOTTEN + SKEW || trueTime <= lease.ceiling + SKEW -> trueTime++
#else
  :: d_step { trueTime < TICKS -> trueTime++; printf("@ - tick %d\n", trueTime) }
#endif
  od
}
#endif

init {
  atomic {
#if defined(LIVE)
    /* The server has just started, and a process that has crashed had the node. */
    lease.holder = GONE; lease.ceiling = WINDOW; trueTime = 1;
#elif defined(FORGETS)
    /* The server is just trusted. */
    life.incarnation = 1; life.since = 1; life.writer = GONE; ahead = SKEW; trueTime = 2 + FORGOTTEN;
#endif
#ifdef TICK
    tick = TICK;
#else
    select(tick : trueTime + ahead .. TICKS + SKEW + WINDOW - 1);
#endif
    printf("@ - observes %d\n", tick);
#ifdef CLOCK
    run Clock();
#endif
    run Nature(); run Holder(0); run Caller(0); run Holder(1); run Caller(1);
    if :: PROCESSES > 2 -> run Holder(2); run Caller(2) :: else fi
  }
}

#ifdef LIVE
ltl someProcessGetsANode { <> (process[0].holds || process[1].holds) }
#endif
