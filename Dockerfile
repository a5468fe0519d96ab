# docker build -t weir .          docker run -p 3000:3000 -v weir-data:/data weir
# For another architecture: docker buildx build --platform linux/arm64 -t weir .
# Bases are pinned by the digest of their multi-platform index: node 24.18.0, distroless of October 2026. A new digest is a
# commit of its own (`docker buildx imagetools inspect IMAGE`).
FROM node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
RUN apt-get update && apt-get install -y --no-install-recommends git ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# Bun and the packages change rarely: a layer of their own.
COPY package.json bun.lock bunfig.toml ./
COPY scripts/bootstrap.mjs scripts/install.mjs scripts/
RUN node scripts/install.mjs
COPY . .
RUN node scripts/install.mjs build && mkdir -p /out/data && mv dist/weir /out/weir

FROM gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f
COPY --from=build /out/weir /usr/local/bin/weir
COPY LICENSE NOTICE /usr/share/doc/weir/
COPY --from=build --chown=nonroot:nonroot /out/data /data
ENV WEIR_DATA_DIR=/data PORT=3000 WEIR_LOG_FORMAT=json
WORKDIR /data
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=20s --retries=3 CMD ["/usr/local/bin/weir", "--health"]
ENTRYPOINT ["/usr/local/bin/weir"]
