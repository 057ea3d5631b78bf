import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { askHidden, type Keyboard } from '../src/sealed/keyboard.ts'
import { workProgress } from '../src/sealed/output.ts'

function keyboard() {
  const events: string[] = []
  const stream = new PassThrough()
  const input = Object.assign(stream, {
    setRawMode(raw: boolean) {
      events.push(raw ? 'raw' : 'cooked')
      return input
    },
  }) as unknown as Keyboard['input']
  const made: Keyboard = {
    input,
    print: (text) => void events.push(text),
    interrupt: () => void events.push('interrupt'),
    close() {},
  }
  return { made, events, type: (keys: string | Uint8Array) => void stream.write(keys) }
}

describe('what is typed and not shown', () => {
  test('ends with Enter, and the terminal is as it was', async () => {
    const { made, events, type } = keyboard()
    type('hunter2\r')
    expect(await askHidden(made, 'Passphrase: ')).toBe('hunter2')
    expect(events).toEqual(['Passphrase: ', 'raw', 'cooked', '\n'])
  })

  test('can be corrected: the last character, the line', async () => {
    const { made, type } = keyboard()
    type('wrong\u0015hunter3\u007F2 👩‍🚀\u007F\u007F\r')
    expect(await askHidden(made, '')).toBe('hunter2')
  })

  test('has no arrows in it', async () => {
    const { made, type } = keyboard()
    type('hunt\u001B[D\u001B[1;5C\u001BOHer2\r')
    expect(await askHidden(made, '')).toBe('hunter2')
  })

  test('may arrive in pieces, also of a character', async () => {
    const { made, type } = keyboard()
    const asked = askHidden(made, '')
    const key = Buffer.from('🔑')
    type(key.subarray(0, 2))
    type(key.subarray(2))
    type('\r')
    expect(await asked).toBe('🔑')
  })

  test('may be several lines, until Ctrl+D', async () => {
    const { made, type } = keyboard()
    type(' one\r\n\ttwo\rthree\u0015\r\u0004')
    expect(await askHidden(made, '', { lines: true })).toBe(' one\n\ttwo\n\n')
  })

  test('may be typed ahead of the next question', async () => {
    const { made, type } = keyboard()
    type('first\rsecond\r')
    expect(await askHidden(made, '')).toBe('first')
    expect(await askHidden(made, '')).toBe('second')
  })

  test('is given up with Ctrl+C, after the terminal is as it was', async () => {
    const { made, events, type } = keyboard()
    type('x\u0003\r')
    await askHidden(made, '')
    expect(events.slice(0, 4)).toEqual(['', 'raw', 'cooked', 'interrupt'])
  })
})

test('the proof of work shows how far it is, on a terminal alone', () => {
  const written: string[] = []
  const write = (text: string) => void written.push(text)
  const piped = workProgress({ isTTY: false, write })
  piped.show({ tries: 1, expected: 2 })
  piped.clear()
  expect(written).toEqual([])
  const shown = workProgress({ isTTY: true, write })
  for (const tries of [0, 1, 1000, 1000, 10_000]) shown.show({ tries, expected: 1000 })
  shown.clear()
  expect(written).toEqual([
    '\rProof of work: 0 %',
    '\rProof of work: 63 %',
    '\rProof of work: 99 %',
    '\r\u001B[K',
  ])
})
