import { describe, expect, test } from 'vitest'
import { ApiError, defineErrors } from '../src/errors.ts'

const boxError = defineErrors('box', {
  gone: [404, 'This box does not exist'],
  locked: [423, 'This box is locked: open it first'],
})

describe('an error catalogue', () => {
  test('creates errors with the declared code, status and message', () => {
    const error = boxError('locked', {
      details: [{ path: 'body.name', message: 'Is required' }],
      data: { triesLeft: 2 },
      headers: { 'retry-after': '5' },
      cause: new Error('inner'),
    })
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'ApiError',
      code: 'box.locked',
      status: 423,
      message: 'This box is locked: open it first',
      details: [{ path: 'body.name', message: 'Is required' }],
      data: { triesLeft: 2 },
      headers: { 'retry-after': '5' },
      cause: { message: 'inner' },
    })
  })

  test('can be read as data, in the order of its declaration', () => {
    expect(boxError.catalogue).toEqual([
      { code: 'box.gone', status: 404, message: 'This box does not exist' },
      { code: 'box.locked', status: 423, message: 'This box is locked: open it first' },
    ])
    expect(boxError.entry('gone').code).toBe('box.gone')
  })

  test('rejects a code that it does not declare, at compile time and at run time', () => {
    // @ts-expect-error the code is not declared
    expect(() => boxError('lost')).toThrow('Cannot create the error "box.lost"')
    // @ts-expect-error names of every object are not codes either
    expect(() => boxError('toString')).toThrow('Cannot create the error "box.toString"')
  })

  test('rejects a malformed code or message', () => {
    expect(() => defineErrors('box', { NotThere: [404, 'Text'] })).toThrow('box.NotThere')
    expect(() => defineErrors('box', { gone: [404, 'Ends with a period.'] })).toThrow('period')
    const unfinished = 'Box not found. Choose another one'
    expect(() => defineErrors('box', { gone: [404, unfinished] })).toThrow('period')
    expect(() => defineErrors('box', { gone: [404, `${unfinished}.`] })).not.toThrow()
    expect(() => defineErrors('box', { gone: [404, ''] })).toThrow('Write one sentence')
  })

  test('starts the trace of an error where it is thrown', () => {
    expect(boxError('gone').stack?.split('\n')[1]).toContain('errors.test.ts')
  })
})
