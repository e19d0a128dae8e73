import { proveCuts } from './power-cuts.ts'

proveCuts(60, 20)
