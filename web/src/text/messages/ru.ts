import type { Messages } from '../language.ts'
import { en } from './en.ts'
export const ru: Messages = en
