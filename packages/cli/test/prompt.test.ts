import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { askHidden, type Keyboard } from '../src/prompt.ts'
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
  return {
    made,
    events,
    type: (keys: string | Uint8Array) => void stream.write(keys),
    end: () => void stream.end(),
  }
}

describe('a hidden prompt', () => {
  test('ends with Enter and restores the terminal', async () => {
    const { made, events, type } = keyboard()
    type('hunter2\r')
    expect(await askHidden(made, 'Passphrase: ')).toBe('hunter2')
    expect(events).toEqual(['Passphrase: ', 'raw', 'cooked', '\n'])
  })

  test('deletes the last character on Backspace and the line on Ctrl+U', async () => {
    const { made, type } = keyboard()
    type('wrong\u0015hunter3\u007F2 👩‍🚀\u007F\u007F\r')
    expect(await askHidden(made, '')).toBe('hunter2')
  })

  test('ignores arrow keys', async () => {
    const { made, type } = keyboard()
    type('hunt\u001B[D\u001B[1;5C\u001BOHer2\r')
    expect(await askHidden(made, '')).toBe('hunter2')
  })

  test('accepts input in parts, even of one character', async () => {
    const { made, type } = keyboard()
    const asked = askHidden(made, '')
    const key = Buffer.from('🔑')
    type(key.subarray(0, 2))
    type(key.subarray(2))
    type('\r')
    expect(await asked).toBe('🔑')
  })

  test('reads several lines until Ctrl+D', async () => {
    const { made, type } = keyboard()
    type(' one\r\n\ttwo\rthree\u0015\r\u0004')
    expect(await askHidden(made, '', { lines: true })).toBe(' one\n\ttwo\n\n')
  })

  test('keeps what is typed ahead for the next question', async () => {
    const { made, type } = keyboard()
    type('first\rsecond\r')
    expect(await askHidden(made, '')).toBe('first')
    expect(await askHidden(made, '')).toBe('second')
  })

  test('restores the terminal and interrupts the command on Ctrl+C', async () => {
    const { made, events, type } = keyboard()
    type('x\u0003')
    await expect(askHidden(made, '')).rejects.toThrow('No input: run the command again')
    expect(events).toEqual(['', 'raw', 'cooked', '\n', 'interrupt'])
  })

  test('fails when the input ends', async () => {
    const { made, end } = keyboard()
    end()
    await expect(askHidden(made, '')).rejects.toThrow('No input: run the command again')
  })
})

test('the proof of work shows its progress only on a terminal', () => {
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
