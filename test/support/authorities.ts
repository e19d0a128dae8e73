import { hideAuthorities } from '../../scripts/authorities.ts'

/** Global set-up: a run starts some 1 000 processes of Node. */
export default hideAuthorities
