import { nearest } from '@strongroom/kit/nearest'
import { services } from '@strongroom/server/services'
import { usageError } from './command.ts'

/** The services that `--only` selects; all of them without it. */
export function chooseServices(only: string | boolean | undefined): typeof services {
  if (typeof only !== 'string') return services
  const found = services.find(({ name }) => name === only)
  if (found) return [found]
  const names = services.map(({ name }) => name)
  const meant = nearest(only, names)
  const known =
    names.length > 0 ? `choose from ${names.join(', ')}` : 'none is part of this version'
  throw usageError(
    `There is no service "${only}": ${meant === undefined ? known : `did you mean ${meant}?`}`,
  )
}
