import { proveCuts } from './power-cuts.ts'

proveCuts(100, 30)
