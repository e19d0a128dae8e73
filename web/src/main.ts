import { render } from 'lit-html'
import { App } from './app.ts'
import { pageOf } from './page.ts'
import { onRoomChange } from './parts/bits.ts'

const root = document.getElementById('page') as HTMLElement
// What stands there until the script runs.
root.replaceChildren()
const app = new App((app) => render(pageOf(app), root))
onRoomChange(() => app.draw())
app.start()
