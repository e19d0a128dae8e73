import { hideAuthorities } from '../../scripts/authorities.ts'

/** Global set-up. Some 1 000 processes of Node start in a run, and none has to read the authorities. */
export default hideAuthorities
