/**
 * The whole program as one script with V8's compiled code beside it, so that a server need not resolve
 * and compile a hundred modules at each start. The first start writes the compiled code, later ones use it.
 *
 * Only for the commands that load most of the program: others load fewer modules than this would read.
 */
import { accessSync, constants, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import { Script } from 'node:vm'
import { startBackgroundTimer, type StartTimer } from '@strongroom/platform/timers'
import type { runProgram } from './program.ts'

/** The name of the script; the bundler defines it. Its hash is in it: V8 compares only the length of a source. */
declare const COMPILED_PROGRAM: string | undefined

const COMMANDS: readonly string[] = ['serve', 'worker']

/** By then a server has run all functions that a start needs. */
const SAVE_AFTER_MS = 3_000

interface Program {
  runProgram: typeof runProgram
}

/** Undefined if the modules have to be loaded instead. */
export function loadCompiledProgram(
  [command = '']: readonly string[],
  { file = compiledFile(), startTimer = startBackgroundTimer }: LoadOptions = {},
): Program | undefined {
  if (file === undefined || !COMMANDS.includes(command)) return undefined
  // Node maps only the positions of modules.
  if (process.sourceMapsEnabled) return undefined
  const cacheFile = `${file.slice(0, -'.cjs'.length)}-${command}-${cachedDataVersionTag()}.cache`
  const cachedData = readIfAny(cacheFile)
  // Without compiled code, modules load faster.
  if (cachedData === undefined && !isWritable(dirname(file))) return undefined
  // The bundler escapes what is not ASCII.
  const source = readFileSync(file, 'latin1')
  const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) })
  // Rejected if it is damaged.
  if (script.cachedDataRejected !== false)
    startTimer(SAVE_AFTER_MS, () => void saveCompiledCode(script, cacheFile))
  const module = { exports: {} as Program }
  const start = script.runInThisContext() as (...parameters: unknown[]) => void
  start(createRequire(file), module, pathToFileURL(file).href)
  return module.exports
}

/** For tests. */
interface LoadOptions {
  file?: string
  startTimer?: StartTimer
}

function compiledFile(): string | undefined {
  if (typeof COMPILED_PROGRAM === 'undefined') return undefined
  return fileURLToPath(new URL(COMPILED_PROGRAM, import.meta.url))
}

async function saveCompiledCode(script: Script, file: string): Promise<void> {
  const { replaceFile } = await import('@strongroom/platform/private-file')
  // Full or read-only disks report themselves where data is written.
  await replaceFile(file, script.createCachedData(), 0o644).catch(() => {})
}

function readIfAny(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch {
    // Slower without it, and otherwise the same.
    return undefined
  }
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}
