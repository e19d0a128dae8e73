import { leak } from './leak.js'

export default leak({ name: 'leak-dropped', title: '400 000 generators dropped', ending: 'collect' })
