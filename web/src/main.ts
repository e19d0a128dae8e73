import { render } from 'lit-html'
import { App } from './app.ts'
import { pageOf } from './page.ts'

const root = document.getElementById('page') as HTMLElement
// What stands there until the script runs.
root.replaceChildren()
new App((app) => render(pageOf(app), root)).start()
