import { inFreshProcess } from '../measure/processes.js'
import { startup } from './startup.js'

const probe = new URL('../probes/first-id.js', import.meta.url)

/** Import, generator and first id: the engine is loaded when it is first needed, so the import alone does not show it. */
export default startup({
  name: 'first-id',
  title: 'import to first id',
  probe: ({ name, group }) => (group === 'graupel' ? inFreshProcess(probe, [name]) : undefined),
  bars: {},
})
