import { render } from 'lit-html'
import { App } from './app.ts'
import { pageOf } from './page.ts'
import { onRoomChange } from './parts/bits.ts'
import { chooseByKey } from './views/parse-guesses.ts'

const root = document.getElementById('page') as HTMLElement
// Removes the content for readers without JavaScript.
root.replaceChildren()
const app = new App((app) => render(pageOf(app), root))
onRoomChange(() => app.draw())
addEventListener('keydown', chooseByKey)
app.start()
