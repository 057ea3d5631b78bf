/** Files that options name: JSON, or a script. */
import { readFileSync } from 'node:fs'
import { UsageError } from '../command.ts'

type Given = string | boolean | undefined

/** Undefined if the option was not given. */
export function jsonIn(option: string, file: Given): unknown {
  const text = textIn(option, file)
  return text === undefined ? undefined : parsed(option, text)
}

/** A transform: a file that ends in .js or .mjs is the script of one. */
export function transformIn(file: Given): unknown {
  const code = textIn('transform', file)
  if (code === undefined) return undefined
  return /\.m?js$/.test(String(file)) ? { type: 'javascript', code } : parsed('transform', code)
}

function textIn(option: string, file: Given): string | undefined {
  if (typeof file !== 'string') return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new UsageError(`Cannot read the file of --${option} (${reason}): check its path`)
  }
}

function parsed(option: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`The file of --${option} is not JSON: correct it`)
  }
}
