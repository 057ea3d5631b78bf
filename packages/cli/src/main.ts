import { loadCompiledProgram } from './compiled-program.ts'

const argv = process.argv.slice(2)
const { runProgram } = loadCompiledProgram(argv) ?? (await import('./program.ts'))
process.exitCode = await runProgram(argv)
