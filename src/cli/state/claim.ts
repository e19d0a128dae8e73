import type { Claim } from '../../host/claims.js'
import { userOf } from '../../host/users.js'
import { type Paint, printable, table } from '../paint.js'
import { ago } from '../rows.js'
import { clockText, idRows, idsRows, plainIds, plainMoment } from './show.js'

/** The time of the last id in a list, and the process that holds the claim. */
export function claimTime({ latest, timeMs, holder }: Claim): string {
  if (latest.says.use === 'page') return 'in its page'
  if (holder === undefined) return timeMs === undefined ? 'none' : ago(timeMs)
  const process = { running: `process ${holder.pid}`, gone: 'gone', unknown: 'another container' }[holder.fate]
  return `${timeMs === undefined ? 'none' : `before ${ago(timeMs)}`}, ${process}`
}

/** As an object for `--json`. */
export function plainClaim({ path, latest, ids, lastSlot, timeMs, holder }: Claim) {
  return {
    path,
    kind: 'claim',
    format: latest.says.format,
    ...plainIds(ids),
    lastId: lastSlot === undefined ? null : String(ids.at(lastSlot)),
    ...plainMoment(lastSlot === undefined ? undefined : timeMs),
    clock: ids.clock,
    ceiling: latest.says.use === 'released' || timeMs === undefined ? null : plainMoment(timeMs),
    use: latest.says.use,
    step: latest.number,
    heldBy: holder ?? null,
  }
}

/** As lines for people. */
export function claimLines({ path, latest, ids, lastSlot, timeMs, holder }: Claim, paint: Paint): string[] {
  const { use } = latest.says
  const isKnown = use === 'released' || timeMs === undefined
  return table([
    ['claim', printable(path)],
    ['format', String(latest.says.format)],
    ...idsRows(ids, paint),
    ...(lastSlot === undefined ? [['last id', isKnown ? 'none yet' : 'not known']] : idRows(ids, lastSlot)),
    ...(isKnown ? [] : [['ceiling', `ids before ${ago(timeMs)}`]]),
    ['clock', clockText(ids)],
    ['held by', use === 'page' ? 'no process: the page beside it counts' : heldBy(holder)],
  ])
}

function heldBy(holder: Claim['holder']): string {
  if (holder === undefined) return 'no process: it was given back'
  const { pid, fate } = holder
  if (fate === 'gone') return `no process: ${pid} is gone`
  if (fate === 'unknown') return `${pid}, of another container, so it cannot be seen whether it runs`
  return `${pid} ${printable(userOf(pid).command)}`
}
