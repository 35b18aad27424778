# The program in a small image, not as root:
#     docker build -t hnefi .
#     docker run --rm -it hnefi play                                                   # in the terminal
#     docker run --rm -p 8037:8037 hnefi play --web --listen 0.0.0.0:8037              # then http://127.0.0.1:8037/
#     docker run --rm -v hnefi-runs:/work/runs hnefi train                             # runs outlive the container
# scripts/check-container.sh builds and tries it in CI. A context named `build` with a folder `out` takes the first
# stage's place (docker build --build-context build=DIR), for a program that is built already.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /source
COPY . .
RUN scripts/container-build.sh /out

FROM debian:bookworm-slim
COPY --from=build /out/ /
RUN useradd --uid 10001 --no-create-home --home-dir /work hnefi && install -d -o hnefi /work /work/runs
USER hnefi
WORKDIR /work
# Training's runs; the port of `hnefi play --web` and `hnefi watch --web`.
VOLUME /work/runs
EXPOSE 8037
ENTRYPOINT ["hnefi"]
CMD ["--help"]
