/** The kinds of jobs of a server: its own and those of its services. */
import { createAuditLog } from '@strongroom/kit/audit-log'
import type { JobKind } from '@strongroom/kit/jobs/kind'
import type { Service, ServiceDeps } from '@strongroom/kit/service'
import type { ServerCapabilities } from '../service-deps.ts'
import { createAuditExport } from './audit-export.ts'

export async function createJobKinds(
  services: readonly Pick<Service<ServerCapabilities>, 'createJobKinds'>[],
  deps: ServiceDeps & ServerCapabilities,
): Promise<readonly JobKind[]> {
  const own = [createAuditExport(createAuditLog(deps))]
  const others = await Promise.all(services.map(async (service) => service.createJobKinds?.(deps)))
  return [...own, ...others.flatMap((kinds) => kinds ?? [])]
}
