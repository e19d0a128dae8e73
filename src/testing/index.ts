export { type TestGenerator, type TestGeneratorOptions, testGenerator } from './generator.js'
