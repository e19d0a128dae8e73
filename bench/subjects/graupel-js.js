import { graupel } from './graupel.js'

export default graupel('js')
