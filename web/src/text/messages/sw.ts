import type { Messages } from '../language.ts'
import { en } from './en.ts'
export const sw: Messages = en
