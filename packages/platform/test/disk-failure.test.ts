import { constants, tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { diskAdvice, isDiskFull } from '../src/disk-failure.ts'

const { ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EPERM, EIO, ENOENT } = constants.errno

describe('a failed write', () => {
  test.each([
    [ENOSPC, 'no space is left'],
    [EDQUOT, 'no space is left'],
    [EFBIG, 'file size limit'],
    [EROFS, 'read-only'],
    [EACCES, 'read-only'],
    [EPERM, 'read-only'],
    [EIO, 'Check the disk'],
  ])('with the error number %i has advice', (errno, advice) => {
    expect(diskAdvice(tmpdir(), errno)).toContain(advice)
  })

  test('for another reason has no advice', () => {
    expect(diskAdvice(tmpdir(), ENOENT)).toBeUndefined()
  })

  test('is caused by a full disk if the system reports it', () => {
    expect([ENOSPC, EDQUOT, EACCES].map((errno) => isDiskFull(tmpdir(), errno))).toStrictEqual([
      true,
      true,
      false,
    ])
  })

  test('in a directory that does not exist is not because of a full disk', () => {
    expect(isDiskFull('/does/not/exist', EIO)).toBe(false)
  })
})
