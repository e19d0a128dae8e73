import { it } from 'vitest'
import { loadProcess } from '/work/main/test/lease/programs-simulation/load.ts'
import { runWorld } from '/work/main/test/lease/programs-simulation/world.ts'
const list = [
 { defect: 'tried of an earlier token', file: 'lease/protocol.ts', from: 'if (this.#tried?.token !== token) return', to: 'if (this.#tried === undefined) return' },
 { defect: 'abandon in a copy', file: 'lease/acquisition.ts', from: 'if (this.isOnSameMachine) await this.protocol.abandon', to: 'await this.protocol.abandon' },
 { defect: 'call does not wait', file: 'lease/work-queue.ts', from: 'this.#idle.then(() => work(signal))', to: 'Promise.resolve().then(() => work(signal))' },
 { defect: 'late node is used', file: 'lease/renewal.ts', from: "    if (signal?.aborted) {\n      await this.#acquisition.giveBack(holding)\n      throw signal.reason\n    }\n", to: '' },
 { defect: 'give back in a copy', file: 'lease/acquisition.ts', from: 'if (this.isOnSameMachine) await this.protocol.release(', to: 'await this.protocol.release(' },
 { defect: 'parked acquisition leaves its node (goOn)', file: 'lease/renewal.ts', from: "    if (step !== undefined) this.#acquisition.goOn(step)\n    const reason", to: '    const reason' , isOrderly: true},
 { defect: 'aborted acquisition abandons nothing', file: 'lease/acquisition.ts', from: "if (signal?.aborted || this.#isAwaited()) await this.#abandon()", to: '' , isOrderly: true},
]
for (const m of list) it.concurrent(m.defect, { timeout: 0 }, async () => {
  const start = await loadProcess(m as never)
  for (let seed = 1; seed < 3000; seed++) {
    const o = await runWorld(start, seed, m.isOrderly ? { isOrderly: true } : {})
    if (o.violation) { console.log('FOUND', m.defect, seed, o.violation.text); return }
    if (seed % 20 === 0) await new Promise((r) => setImmediate(r))
  }
  console.log('NOT FOUND', m.defect)
})
