# Every step is plain, so that a test can run them without a container engine (deploy/test).
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci --no-audit --no-fund
RUN npm run pack
# Only what the package needs at run time; nothing of the build is copied.
RUN npm install --global --prefix /opt/strongroom --no-audit --no-fund dist/npm/strongroom-[0-9]*.tgz

FROM node:24-bookworm-slim
COPY --from=build /opt/strongroom /opt/strongroom
RUN mkdir -m 700 /data && chown 1000:1000 /data
ENV PATH=/opt/strongroom/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV HOST=0.0.0.0
ENV STRONGROOM_DATA=/data/store
USER 1000:1000
WORKDIR /data
VOLUME /data
EXPOSE 4280
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 4280) + '/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["strongroom"]
CMD ["serve"]
