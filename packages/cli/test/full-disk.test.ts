import { constants } from 'node:os'
import { commitFailed } from '@strongroom/engine/storage/failures'
import { expect, test } from 'vitest'
import { exitCodeOf, explain } from '../src/failure.ts'

test('a disk that is full is told in one line that says what to do', () => {
  const full = commitFailed('/data', constants.errno.ENOSPC)
  expect(explain(full)).toBe(
    'Cannot write to the data directory "/data": no space is left on its disk. Free some space and try again. Nothing of this request was stored',
  )
  expect(exitCodeOf(full)).toBe(1)
})
