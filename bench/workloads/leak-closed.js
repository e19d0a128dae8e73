import { leak } from './leak.js'

export default leak({ name: 'leak-closed', title: '400 000 generators closed', ending: 'close' })
