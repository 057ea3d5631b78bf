/** A prompt on the terminal that does not show what is typed. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { ReadStream } from 'node:tty'

export interface Keyboard {
  input: Pick<ReadStream, 'setRawMode' | 'setEncoding' | 'on' | 'off' | 'resume' | 'pause'> & {
    /** Gives back what was typed ahead. */
    unshift(text: string): void
  }
  /** Writes to the screen. */
  print(text: string): void
  /** Ctrl+C. */
  interrupt(): void
  close(): void
}

/** The terminal, also where standard input is something else; undefined where there is none. */
export function openKeyboard(): Keyboard | undefined {
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
/** Arrow keys and the like, which are never part of a secret. */
// oxlint-disable-next-line no-control-regex -- that is how they arrive
const KEY_SEQUENCES = /\u001B(?:\[[0-9;?]*[A-Za-z~]|O.)/g

/** What is typed until Enter, or as `lines` until Ctrl+D. Leaves the terminal as it was. */
export async function askHidden(
  { input, print, interrupt }: Keyboard,
  question: string,
  { lines = false }: { lines?: boolean } = {},
): Promise<string> {
  print(question)
  input.setRawMode(true)
  input.setEncoding('utf8')
  let typed = ''
  /** Whether that was the end of it. */
  const press = (key: string): boolean => {
    if (key === CTRL_C) {
      input.setRawMode(false)
      interrupt()
    } else if (key === CTRL_D || (key === '\n' && !lines)) return true
    else if (key === CTRL_U) typed = typed.slice(0, typed.lastIndexOf('\n') + 1)
    else if (BACKSPACES.includes(key)) typed = withoutLast(typed)
    else typed += key
    return false
  }
  await new Promise<void>((resolve) => {
    const take = (chunk: string) => {
      const keys = Array.from(chunk.replace(KEY_SEQUENCES, '').replace(/\r\n?/g, '\n'))
      const end = keys.findIndex(press)
      if (end === -1) return
      input.off('data', take).pause()
      const ahead = keys.slice(end + 1).join('')
      if (ahead !== '') input.unshift(ahead)
      resolve()
    }
    input.on('data', take).resume()
  })
  input.setRawMode(false)
  print('\n')
  return typed
}

/** Without its last character, as people count them. */
function withoutLast(text: string): string {
  const last = Array.from(new Intl.Segmenter().segment(text)).at(-1)
  return text.slice(0, last?.index ?? 0)
}
