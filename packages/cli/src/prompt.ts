/** A prompt on the terminal that hides what is typed. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { ReadStream } from 'node:tty'
import { usageError } from './command.ts'

export interface Keyboard {
  input: Pick<ReadStream, 'setRawMode' | 'setEncoding' | 'on' | 'off' | 'resume' | 'pause'> & {
    /** Returns what was typed ahead to the stream. */
    unshift(text: string): void
  }
  /** Writes to the screen. */
  print(text: string): void
  /** Ctrl+C. */
  interrupt(): void
  close(): void
}

/** The terminal, even if standard input is redirected; undefined if there is none. */
function openKeyboard(): Keyboard | undefined {
  const interrupt = () => void process.kill(process.pid, 'SIGINT')
  if (process.stdin.isTTY) {
    const print = (text: string) => void process.stderr.write(text)
    return { input: process.stdin, print, interrupt, close() {} }
  }
  try {
    const screen = openSync('/dev/tty', 'r+')
    const input = new ReadStream(openSync('/dev/tty', 'r'))
    return {
      input,
      print: (text) => void writeSync(screen, text),
      interrupt,
      close() {
        input.destroy()
        closeSync(screen)
      },
    }
  } catch {
    return undefined
  }
}

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const CTRL_U = '\u0015'
const BACKSPACES = ['\u007F', '\b']
/** Arrow and function keys, which are never part of a secret. */
// oxlint-disable-next-line no-control-regex -- terminals send them as escape sequences
const KEY_SEQUENCES = /\u001B(?:\[[0-9;?]*[A-Za-z~]|O.)/g

export function hasTerminal(): boolean {
  const keyboard = openKeyboard()
  keyboard?.close()
  return keyboard !== undefined
}

/** Asks on the terminal and closes it again; undefined if there is no terminal. */
export async function askOnTerminal(
  question: string,
  options?: { lines?: boolean },
): Promise<string | undefined> {
  const keyboard = openKeyboard()
  if (!keyboard) return undefined
  try {
    return await askHidden(keyboard, question, options)
  } finally {
    keyboard.close()
  }
}

/** Reads until Enter, or with `lines` until Ctrl+D, and restores the terminal. */
export async function askHidden(
  { input, print, interrupt }: Keyboard,
  question: string,
  { lines = false }: { lines?: boolean } = {},
): Promise<string> {
  print(question)
  input.setRawMode(true)
  input.setEncoding('utf8')
  let typed = ''
  /** Whether the key ends the input. */
  const press = (key: string): boolean => {
    if (key === CTRL_C || key === CTRL_D || (key === '\n' && !lines)) return true
    if (key === CTRL_U) typed = typed.slice(0, typed.lastIndexOf('\n') + 1)
    else if (BACKSPACES.includes(key)) typed = withoutLast(typed)
    else typed += key
    return false
  }
  const lastKey = await new Promise<string | undefined>((resolve) => {
    const onClose = () => resolve(undefined)
    const onData = (chunk: string) => {
      const keys = Array.from(chunk.replace(KEY_SEQUENCES, '').replace(/\r\n?/g, '\n'))
      const end = keys.findIndex(press)
      if (end === -1) return
      input.off('data', onData).off('end', onClose).pause()
      const ahead = keys.slice(end + 1).join('')
      if (ahead !== '') input.unshift(ahead)
      resolve(keys[end])
    }
    input.on('data', onData).on('end', onClose).resume()
  })
  input.setRawMode(false)
  print('\n')
  if (lastKey === CTRL_C) interrupt()
  // Reached after Ctrl+C if the process handles the signal itself.
  if (lastKey === CTRL_C || lastKey === undefined) {
    throw usageError('No input: run the command again')
  }
  return typed
}

/** Removes the last character that a person sees, which may be several code points. */
function withoutLast(text: string): string {
  const last = Array.from(new Intl.Segmenter().segment(text)).at(-1)
  return text.slice(0, last?.index ?? 0)
}
