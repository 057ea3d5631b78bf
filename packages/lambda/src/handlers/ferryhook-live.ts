import { ferryhookService } from '@strongroom/ferryhook/service'
import { streamingServiceHandler } from '../service-handler.ts'

export const handler = streamingServiceHandler('ferryhook-live', ferryhookService)
