import { Batch } from './ids/batch.ts'
import { pastedId } from './ids/pasted.ts'
import { applyPreferences, keepPreferences, type Preferences, readPreferences } from './preferences.ts'
import { Job } from './slices.ts'
import {
  type AllValues,
  defaultValues,
  type IdsField,
  isLeftOut,
  linkOf,
  readLink,
  type Values,
  type View,
  views,
} from './state.ts'
import { Format } from './text/format.ts'
import { type Language, localeOf, type MessageKey, type MessageValues, messageIn } from './text/language.ts'

/** Time between two changes of the address. Browsers refuse more than a few changes a second. */
const addressMs = 400

/** Time that an announcement is shown: enough to read a sentence. */
const announcementMs = 6000

/** The state that the views show and change: the typed values, the view, the language. */
export class App {
  view: View = 'parse'
  readonly values: AllValues = defaultValues()
  /** Pastes and files that are too large for a text field. No link has them. */
  readonly attached = new Map<IdsField, string>()
  /** The sentence about the last action, for a few seconds. */
  announcement = ''
  /** The ids that the view Generate made last. */
  readonly batch = new Batch(() => this.draw())
  #preferences = readPreferences()
  #format = new Format(localeOf(this.#preferences.language, navigator.languages))
  readonly #render: (app: App) => void
  readonly #jobs = new Map<string, Job<unknown>>()
  #isDrawing = false
  #announcementTimer: ReturnType<typeof setTimeout> | undefined
  #addressTimer: ReturnType<typeof setTimeout> | undefined

  constructor(render: (app: App) => void) {
    this.#render = render
  }

  /** Shows the view of the address, and follows later changes of the address. */
  start(): void {
    applyPreferences(this.#preferences)
    for (const view of views) Object.assign(this.values[view], this.#kept(view))
    this.#follow()
    addEventListener('popstate', () => this.#follow())
    addEventListener('pagehide', () => this.#writeAddress())
    addEventListener('beforeunload', (event) => {
      // Values that no link has would be lost.
      if (views.some((view) => isLeftOut(this.link(view)))) event.preventDefault()
    })
  }

  get language(): Language {
    return this.#preferences.language
  }

  get preferences(): Readonly<Preferences> {
    return this.#preferences
  }

  get format(): Format {
    return this.#format
  }

  prefer(changed: Partial<Preferences>): void {
    this.#preferences = { ...this.#preferences, ...changed }
    this.#format = new Format(localeOf(this.language, navigator.languages))
    keepPreferences(this.#preferences)
    applyPreferences(this.#preferences)
    this.draw()
  }

  readonly t = (key: MessageKey, values: MessageValues = {}): string =>
    messageIn(this.language, key, values, (number) => this.#format.number(number))

  /** Changes values of a view. */
  set<V extends View>(view: V, changed: Partial<Values<V>>): void {
    Object.assign(this.values[view], changed)
    this.#changed()
  }

  attach(field: IdsField, text: string | undefined): void {
    if (text === undefined) this.attached.delete(field)
    else this.attached.set(field, text)
    this.#changed()
  }

  /** Draws the page, and writes the address soon. */
  #changed(): void {
    this.draw()
    this.#addressTimer ??= setTimeout(() => this.#writeAddress(), addressMs)
  }

  /** Returns the job with a name, for work that takes long. New work of a job ends its former work. */
  job<Result>(name: string): Job<Result> {
    let job = this.#jobs.get(name)
    if (job === undefined) {
      job = new Job<unknown>(() => this.draw())
      this.#jobs.set(name, job)
    }
    return job as Job<Result>
  }

  /** Shows another view, as a new entry of the history. The view Learn shows the id that is being parsed. */
  show(view: View): void {
    this.#writeAddress()
    if (this.view === 'parse' && view === 'learn') {
      Object.assign(this.values.learn, pastedId(this.values.parse, Date.now()))
    }
    this.view = view
    history.pushState(this.values, '', this.link(view))
    this.draw()
    scrollTo(0, 0)
  }

  link(view: View): string {
    const attached = [...this.attached.keys()].map((field) => field.split('.'))
    const keys = attached.filter(([of]) => of === view).map(([, key]) => key as string)
    return linkOf(view, this.values[view], keys)
  }

  announce(text: string): void {
    this.announcement = text
    this.draw()
    clearTimeout(this.#announcementTimer)
    this.#announcementTimer = setTimeout(() => {
      this.announcement = ''
      this.draw()
    }, announcementMs)
  }

  /** Draws soon, once for all changes before that. */
  draw(): void {
    if (this.#isDrawing) return
    this.#isDrawing = true
    queueMicrotask(() => {
      this.#isDrawing = false
      this.#render(this)
    })
  }

  /** Reads the view and its values from the address. */
  #follow(): void {
    const link = readLink(location.hash, (view) => this.#kept(view))
    if (link !== undefined) {
      if (link.view !== this.view) scrollTo(0, 0)
      this.view = link.view
      Object.assign(this.values[link.view], link.values)
      for (const field of [...this.attached.keys()]) {
        const [view, key = ''] = field.split('.')
        if (view === link.view && !link.leftOut.includes(key)) this.attached.delete(field)
      }
    }
    this.draw()
  }

  #writeAddress(): void {
    clearTimeout(this.#addressTimer)
    this.#addressTimer = undefined
    // A reload restores the other views, and texts that are too long for the address.
    history.replaceState(this.values, '', this.link(this.view))
  }

  /** Returns the values of a view that the entry of the history has; its present values if there are none. */
  #kept(view: View): Record<string, string> {
    return { ...this.values[view], ...history.state?.[view] }
  }
}
