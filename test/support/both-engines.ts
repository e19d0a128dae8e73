import { mixEngines } from '../../src/engine/process-engine.ts'

// Runs before each test file, in the process of that file. Many tests compare the engines in one process.
mixEngines()
