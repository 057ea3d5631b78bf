/** Files that options name: JSON, or a script. */
import { UsageError } from '../command.ts'
import { readGivenFile } from '../read-given.ts'

type Given = string | boolean | undefined

/** The server takes less. */
const MAX_BYTES = 1024 * 1024

/** Undefined if the option was not given. */
export async function jsonIn(option: string, file: Given): Promise<unknown> {
  const text = await textIn(option, file)
  return text === undefined ? undefined : parsed(option, text)
}

/** A transform: a file that ends in .js or .mjs is the script of one. */
export async function transformIn(file: Given): Promise<unknown> {
  const code = await textIn('transform', file)
  if (code === undefined) return undefined
  return /\.m?js$/.test(String(file)) ? { type: 'javascript', code } : parsed('transform', code)
}

async function textIn(option: string, file: Given): Promise<string | undefined> {
  if (typeof file !== 'string') return undefined
  const text = await readGivenFile(`--${option}`, file, MAX_BYTES)
  if (text !== undefined) return text
  throw new UsageError(`The file of --${option} has more than 1 MB: choose a smaller one`)
}

function parsed(option: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`The file of --${option} is not JSON: correct it`)
  }
}
